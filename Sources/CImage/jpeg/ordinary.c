#include "ordinary.h"

#include <stdlib.h>

bool cimage_ordinary_open(OrdinaryDecoder *self, j_decompress_ptr cinfo, const uint8_t *end, size_t leastBytes,
                          ScanLimits limits) {
  bool isOrdinary = !cinfo->arith_code && cinfo->data_precision == 8 && cinfo->num_components <= 3 &&
                    cinfo->dct_method == JDCT_ISLOW && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  if (!isOrdinary || (size_t)(end - cinfo->src->next_input_byte) < leastBytes) return false;
  if (cinfo->progressive_mode) {
    self->progressive = cimage_progressive_open(cinfo, end, limits);
  } else {
    self->baseline = cimage_baseline_open(cinfo);
  }
  return self->baseline != NULL || self->progressive != NULL;
}

bool cimage_ordinary_read(OrdinaryDecoder *self, const PlaneReader *reader) {
  return self->baseline != NULL ? cimage_baseline_read(self->baseline, reader)
                                : cimage_progressive_read(self->progressive, reader);
}

void cimage_ordinary_close(OrdinaryDecoder *self) {
  free(self->baseline);
  cimage_progressive_close(self->progressive);
  *self = (OrdinaryDecoder){NULL, NULL};
}
