#include "baseline.h"

#include <stdlib.h>

#include "coefficients.h"
#include "headers.h"
#include "inverse.h"

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

/// The blocks of an MCU that become more than one sample, and where. All are read before the first one is transformed:
/// a processor that loads a row right after its coefficients were stored one by one waits for the stores.
typedef struct Blocks {
  int count;
  int16_t values[D_MAX_BLOCKS_IN_MCU][64] __attribute__((aligned(32)));
  Extent extents[D_MAX_BLOCKS_IN_MCU];
  const Component *components[D_MAX_BLOCKS_IN_MCU];
  uint8_t *samples[D_MAX_BLOCKS_IN_MCU];
} Blocks;

struct BaselineDecoder {
  Component components[3];
  int count;
  /// The number of MCUs in a strip, and of strips that are left.
  JDIMENSION mcus, strips;
  Segment segment;
  /// The tables of DC and AC coefficients, by their numbers in the file.
  HuffmanTable tables[2][tableCount];
  bool isInitialized[2][tableCount];
};

/// Returns a table of DC or AC coefficients; NULL if it is missing or invalid.
static const HuffmanTable *table_of(BaselineDecoder *self, j_decompress_ptr cinfo, bool isDC, int number) {
  if (number >= tableCount) return NULL;
  const JHUFF_TBL *codes = isDC ? cinfo->dc_huff_tbl_ptrs[number] : cinfo->ac_huff_tbl_ptrs[number];
  HuffmanTable *table = &self->tables[isDC][number];
  bool *isInitialized = &self->isInitialized[isDC][number];
  CodeUse use = isDC ? CodesOfDC : CodesOfAC;
  if (!*isInitialized) *isInitialized = codes != NULL && cimage_huffman_init(table, codes, use);
  return *isInitialized ? table : NULL;
}

static bool set_component(BaselineDecoder *self, j_decompress_ptr cinfo, int number) {
  Component *component = &self->components[number];
  const jpeg_component_info *info = &cinfo->comp_info[number];
  // The blocks of an MCU are in the order of the scan.
  if (cinfo->cur_comp_info[number] != info) return false;
  component->across = info->h_samp_factor;
  component->down = info->v_samp_factor;
  component->side = SAMPLES_ACROSS(info);
  component->codes.dc = table_of(self, cinfo, true, info->dc_tbl_no);
  component->codes.ac = table_of(self, cinfo, false, info->ac_tbl_no);
  return component->codes.dc != NULL && component->codes.ac != NULL &&
         cimage_dequantizer_init(&component->codes.dequantizer, cinfo, info);
}

static bool set_components(BaselineDecoder *self, j_decompress_ptr cinfo) {
  int blocks = 0;
  for (int i = 0; i < self->count; i++) {
    if (!set_component(self, cinfo, i)) return false;
    blocks += self->components[i].across * self->components[i].down;
  }
  // The MCU of one component is one block.
  return self->count == 1 ? blocks == 1 : blocks <= D_MAX_BLOCKS_IN_MCU;
}

/// Begins the predictions of DC coefficients, at the start of a segment.
static void reset(BaselineDecoder *self) {
  for (int i = 0; i < self->count; i++) self->components[i].codes.last = 0;
}

/// Returns true for one scan with all components and all bits.
static bool is_ordinary(j_decompress_ptr cinfo) {
  return !jpeg_has_multiple_scans(cinfo) && cinfo->Ss == 0 && cinfo->Se == 63 && cinfo->Ah == 0 && cinfo->Al == 0;
}

BaselineDecoder *cimage_baseline_open(j_decompress_ptr cinfo) {
  if (!is_ordinary(cinfo)) return NULL;
  BaselineDecoder *self = malloc(sizeof *self);
  if (self == NULL) return NULL;
  self->count = cinfo->num_components;
  memset(self->isInitialized, 0, sizeof self->isInitialized);
  if (!set_components(self, cinfo)) {
    free(self);
    return NULL;
  }
  size_t width = 8 * (size_t)cinfo->max_h_samp_factor;
  self->mcus = (JDIMENSION)((cinfo->image_width + width - 1) / width);
  self->strips = cinfo->total_iMCU_rows;
  const uint8_t *rest = cinfo->src->next_input_byte;
  cimage_segment_begin(&self->segment, rest, rest + cinfo->src->bytes_in_buffer, cinfo->restart_interval);
  reset(self);
  return self;
}

/// Passes the restart marker, if there should be one before the next MCU.
static bool pass_restart(BaselineDecoder *self) {
  if (self->segment.untilRestart == 0) {
    if (!cimage_segment_restart(&self->segment)) return false;
    reset(self);
  }
  self->segment.untilRestart -= 1;
  return true;
}

/// Reads a block that becomes one sample, or none.
static inline bool read_mean(Component *component, BitReader *reader, uint8_t *sample) {
  if (!skip_block(reader, &component->codes)) return false;
  if (!component->isNeeded) return true;
  return invert_to_1(component->codes.last * component->codes.dequantizer.factors[0], sample);
}

/// Reads a block, and adds it to `blocks` if it becomes more than one sample.
static inline bool read_samples(Component *component, BitReader *reader, uint8_t *samples, Blocks *blocks) {
  if (component->side == 1 || !component->isNeeded) return read_mean(component, reader, samples);
  int i = blocks->count++;
  blocks->components[i] = component;
  blocks->samples[i] = samples;
  memset(blocks->values[i], 0, sizeof blocks->values[i]);
  return read_block(reader, &component->codes, (Block){blocks->values[i], &blocks->extents[i]});
}

/// Computes the samples of all blocks. Returns false if coefficients are too large.
static inline bool invert_all(Blocks *blocks) {
  for (int i = 0; i < blocks->count; i++) {
    const Component *component = blocks->components[i];
    Block block = {blocks->values[i], &blocks->extents[i]};
    if (!invert(block, component->side, blocks->samples[i], component->stride)) return false;
  }
  return true;
}

/// Reads the blocks of one component in an MCU.
static inline bool read_component(Component *component, BitReader *reader, JDIMENSION mcu, Blocks *blocks) {
  size_t side = (size_t)component->side, left = (size_t)mcu * (size_t)component->across * side;
  for (size_t y = 0; y < (size_t)component->down; y++) {
    for (size_t x = 0; x < (size_t)component->across; x++) {
      uint8_t *samples = component->samples + y * side * component->stride + left + x * side;
      if (!read_samples(component, reader, samples, blocks)) return false;
    }
  }
  return true;
}

static bool read_mcus(BaselineDecoder *self) {
  Blocks blocks;
  for (JDIMENSION mcu = 0; mcu < self->mcus; mcu++) {
    if (!pass_restart(self) || !segment_advance(&self->segment)) return false;
    BitReader reader = self->segment.reader;
    blocks.count = 0;
    for (int i = 0; i < self->count; i++) {
      if (!read_component(&self->components[i], &reader, mcu, &blocks)) return false;
    }
    self->segment.reader = reader;
    if (!invert_all(&blocks)) return false;
  }
  return segment_is_valid(&self->segment);
}

bool cimage_baseline_read(BaselineDecoder *self, const PlaneReader *reader) {
  if (self->strips == 0) return false;
  for (int i = 0; i < self->count; i++) {
    self->components[i].samples = reader->strips[i].pixels;
    self->components[i].stride = reader->strips[i].stride;
    self->components[i].isNeeded = reader->strips[i].height > 0;
  }
  if (!read_mcus(self)) return false;
  self->strips -= 1;
  return self->strips > 0 || cimage_segment_end(&self->segment) == markerEOI;
}
