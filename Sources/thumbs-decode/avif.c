// Decodes AVIF images with libavif. NULL without it.

#include "formats.h"

#if __has_include(<avif/avif.h>)

#include "avif.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "libavif %s", avifVersion());
  return name;
}

/// Converts libavif's result. Some versions have no result for some causes, but an explanation.
static DecodeStatus status_of(avifResult result, const char *reason) {
  // The AV1 decoder reports a failed allocation as invalid data.
  if (errno == ENOMEM) return DecodeStatusOutOfMemory;
  if (strstr(reason, "dimensions are too large") != NULL) return DecodeStatusTooManyPixels;
  if (strstr(reason, "imageCountLimit") != NULL) return DecodeStatusLimit;
  if (strstr(reason, "runcated") != NULL) return DecodeStatusTruncated;
  switch (result) {
    case AVIF_RESULT_TRUNCATED_DATA:
    case AVIF_RESULT_IO_ERROR:  // An offset beyond the end.
      return DecodeStatusTruncated;
    case AVIF_RESULT_OUT_OF_MEMORY:
      return DecodeStatusOutOfMemory;
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_REFORMAT_FAILED:  // A matrix that libavif does not have.
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NO_AV1_ITEMS_FOUND:
      return DecodeStatusUnsupported;
    default:
      return DecodeStatusCorrupt;
  }
}

DecodeStatus avif_fail(avifResult result, const avifDiagnostics *diagnostics, DecodeText *text) {
  const char *reason = diagnostics->error[0] != 0 ? diagnostics->error : avifResultToString(result);
  return fail(status_of(result, reason), text, "%s", reason);
}

static void copy_profile(Image image, uint8_t *bytes) {
  const avifRWData *profile = &((AVIFFile *)image)->decoder->image->icc;
  if (profile->size != 0) memcpy(bytes, profile->data, profile->size);
}

static void close_image(Image image) {
  AVIFFile *file = image;
  if (file == NULL) return;
  if (file->decoder != NULL) avifDecoderDestroy(file->decoder);
  free(file);
}

static const Format avif = {
  .id = DecodeFormatAVIF,
  .library = library,
  .open = avif_open,
  .copy_profile = copy_profile,
  .decode = avif_decode,
  .encode = avif_encode,
  .can_encode = avif_can_encode,
  .close = close_image,
};

const Format *const decode_avif = &avif;

#else

const Format *const decode_avif = NULL;

#endif
