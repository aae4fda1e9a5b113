#include "baseline.h"

#include <stdlib.h>

#include "inverse.h"

enum { markerRST0 = 0xD0, markerEOI = 0xD9 };

/// The number of tables that baseline files may have of each kind (ITU-T T.81, B.2.4.2).
enum { tableCount = 2 };

/// One component in an MCU, and the part of a strip that it becomes.
typedef struct Component {
  BlockCodes codes;
  /// The number of blocks in an MCU, and of samples per side of a decoded block.
  int across, down, side;
  /// The samples of the strip.
  uint8_t *samples;
  size_t stride;
  bool isNeeded;
} Component;

struct BaselineDecoder {
  Component components[3];
  /// The number of MCUs in a strip, and of strips that are left.
  JDIMENSION mcus, strips;
  /// The number of MCUs between restart markers; 0 for a file without them.
  unsigned interval;
  /// The number of MCUs before the next marker, and that of the markers so far.
  unsigned untilRestart, restarts;
  Segment segment;
  /// The tables of DC and AC coefficients, by their numbers in the file.
  HuffmanTable tables[2][tableCount];
  bool isInitialized[2][tableCount];
};

/// The order of coefficients in a file (ITU-T T.81, figure A.6): their places in a block.
static const uint8_t zigzag[64] = {
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47,
  55, 62, 63,
};

/// Returns true if the inverse DCT to `side` samples uses coefficients with this number in one direction.
static bool is_used(int number, int side) {
  return side == 8 || number == 0 || (side == 4 && number != 4) || (side == 2 && number % 2 == 1);
}

/// Returns false if a factor is beyond 8 bits.
static bool set_factors(Component *component, const JQUANT_TBL *table) {
  if (table == NULL) return false;
  for (int i = 0; i < 64; i++) {
    int place = zigzag[i];
    UINT16 factor = table->quantval[place];
    if (factor == 0 || factor > UINT8_MAX) return false;
    bool isUsed = is_used(place % 8, component->side) && is_used(place / 8, component->side);
    component->codes.factors[i] = isUsed ? (uint8_t)factor : 0;
    component->codes.places[i] = (uint8_t)place;
  }
  return true;
}

/// Returns a table of DC or AC coefficients; NULL if it is missing or invalid.
static const HuffmanTable *table_of(BaselineDecoder *self, j_decompress_ptr cinfo, bool isDC, int number) {
  if (number >= tableCount) return NULL;
  const JHUFF_TBL *codes = isDC ? cinfo->dc_huff_tbl_ptrs[number] : cinfo->ac_huff_tbl_ptrs[number];
  HuffmanTable *table = &self->tables[isDC][number];
  bool *isInitialized = &self->isInitialized[isDC][number];
  if (!*isInitialized) *isInitialized = codes != NULL && cimage_huffman_init(table, codes, isDC);
  return *isInitialized ? table : NULL;
}

static bool set_component(BaselineDecoder *self, j_decompress_ptr cinfo, int number) {
  Component *component = &self->components[number];
  const jpeg_component_info *info = &cinfo->comp_info[number];
  int side = SAMPLES_ACROSS(info);
  // The blocks of an MCU are in the order of the scan.
  if (cinfo->cur_comp_info[number] != info || side != SAMPLES_DOWN(info)) return false;
  if (side != 1 && side != 2 && side != 4 && side != 8) return false;
  component->across = info->h_samp_factor;
  component->down = info->v_samp_factor;
  component->side = side;
  component->codes.dc = table_of(self, cinfo, true, info->dc_tbl_no);
  component->codes.ac = table_of(self, cinfo, false, info->ac_tbl_no);
  return component->codes.dc != NULL && component->codes.ac != NULL && set_factors(component, info->quant_table);
}

static void begin_segment(BaselineDecoder *self) {
  for (int i = 0; i < 3; i++) self->components[i].codes.last = 0;
  self->untilRestart = self->interval;
  cimage_segment_begin(&self->segment);
}

/// Returns true for one scan with all components and with the Huffman codes of 8-bit files. If there are several scans,
/// libjpeg has read the file already, and what follows is something else.
static bool is_ordinary(j_decompress_ptr cinfo) {
  return !jpeg_has_multiple_scans(cinfo) && !cinfo->progressive_mode && !cinfo->arith_code &&
         cinfo->data_precision == 8 && cinfo->num_components == 3 && cinfo->comps_in_scan == 3 && cinfo->Ss == 0 &&
         cinfo->Se == 63 && cinfo->Ah == 0 && cinfo->Al == 0 && cinfo->dct_method == JDCT_ISLOW &&
         __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

BaselineDecoder *cimage_baseline_open(j_decompress_ptr cinfo, size_t leastBytes) {
  if (cinfo->src->bytes_in_buffer < leastBytes || !is_ordinary(cinfo)) return NULL;
  BaselineDecoder *self = malloc(sizeof *self);
  if (self == NULL) return NULL;
  memset(self->isInitialized, 0, sizeof self->isInitialized);
  for (int i = 0; i < 3; i++) {
    if (set_component(self, cinfo, i)) continue;
    free(self);
    return NULL;
  }
  self->mcus = cinfo->MCUs_per_row;
  self->strips = cinfo->total_iMCU_rows;
  self->interval = cinfo->restart_interval;
  self->restarts = 0;
  self->segment.rest = cinfo->src->next_input_byte;
  self->segment.fileEnd = self->segment.rest + cinfo->src->bytes_in_buffer;
  begin_segment(self);
  return self;
}

/// Passes the restart marker, if there should be one.
static bool pass_restart(BaselineDecoder *self) {
  if (self->interval == 0) return true;
  if (self->untilRestart == 0) {
    if (!cimage_segment_ends(&self->segment, (uint8_t)(markerRST0 + self->restarts % 8))) return false;
    self->restarts += 1;
    self->segment.rest += 2;
    begin_segment(self);
  }
  self->untilRestart -= 1;
  return true;
}

/// Computes the samples of a block. The literal numbers make fast copies of `fill_samples`.
static inline bool invert(Block block, int side, uint8_t *samples, size_t stride) {
  bool isFlat = block.extent->places == 0 && block.extent->sum <= safeSum;
  switch (side) {
    case 8: return isFlat ? fill_samples(block, 8, samples, stride) : invert_full(block, samples, stride);
    case 4: return isFlat ? fill_samples(block, 4, samples, stride) : invert_to_4(block, samples, stride);
    default: return isFlat ? fill_samples(block, 2, samples, stride) : invert_to_2(block, samples, stride);
  }
}

/// Reads a block that becomes one sample, or none.
static inline bool read_mean(Component *component, BitReader *reader, uint8_t *sample) {
  if (!skip_block(reader, &component->codes)) return false;
  if (!component->isNeeded) return true;
  int32_t dc = component->codes.last * component->codes.factors[0];
  *sample = mean_sample(dc);
  return dc >= -2 * safeSum && dc <= 2 * safeSum;
}

static inline bool read_samples(Component *component, BitReader *reader, uint8_t *samples) {
  if (component->side == 1 || !component->isNeeded) return read_mean(component, reader, samples);
  int16_t values[64] __attribute__((aligned(32)));
  memset(values, 0, sizeof values);
  Extent extent;
  Block block = {values, &extent};
  return read_block(reader, &component->codes, block) && invert(block, component->side, samples, component->stride);
}

/// Reads the blocks of one component in an MCU.
static inline bool read_component(Component *component, BitReader *reader, JDIMENSION mcu) {
  size_t side = (size_t)component->side, left = (size_t)mcu * (size_t)component->across * side;
  for (size_t y = 0; y < (size_t)component->down; y++) {
    for (size_t x = 0; x < (size_t)component->across; x++) {
      uint8_t *samples = component->samples + y * side * component->stride + left + x * side;
      if (!read_samples(component, reader, samples)) return false;
    }
  }
  return true;
}

static bool read_mcus(BaselineDecoder *self) {
  for (JDIMENSION mcu = 0; mcu < self->mcus; mcu++) {
    if (!pass_restart(self) || !segment_advance(&self->segment)) return false;
    BitReader reader = self->segment.reader;
    for (int i = 0; i < 3; i++) {
      if (!read_component(&self->components[i], &reader, mcu)) return false;
    }
    self->segment.reader = reader;
  }
  return segment_is_valid(&self->segment);
}

bool cimage_baseline_read(BaselineDecoder *self, const PlaneReader *reader) {
  if (self->strips == 0) return false;
  for (int i = 0; i < 3; i++) {
    self->components[i].samples = reader->strips[i].pixels;
    self->components[i].stride = reader->strips[i].stride;
    self->components[i].isNeeded = reader->strips[i].height > 0;
  }
  if (!read_mcus(self)) return false;
  self->strips -= 1;
  return self->strips > 0 || cimage_segment_ends(&self->segment, markerEOI);
}
