#include "progressive.h"

#include <stdlib.h>

#include "bands.h"
#include "headers.h"
#include "inverse.h"

/// The most low bits that a scan leaves to others, so that the ten bits of an AC coefficient above them fit in 16.
enum { maxShift = 5 };

/// The coefficients of a component.
typedef struct Component {
  Dequantizer dequantizer;
  /// The number of samples per side of a decoded block.
  int side;
  /// The number of blocks in each direction in an MCU of several components, in the image, and in memory, which has
  /// whole MCUs.
  size_t unitAcross, unitDown, across, down, stride, rows;
  /// The coefficients that are kept of each block, and their number.
  int16_t *values;
  size_t valuesPerBlock;
  /// For each block, one bit for each coefficient that is not zero.
  uint64_t *present;
  uint8_t slots[64];
  /// One bit for each coefficient that the inverse DCT uses.
  uint64_t used;
  /// For each coefficient, the number of low bits that are missing; -1 if all are.
  int8_t missing[64];
  /// The DC coefficient of the last block in a scan.
  int32_t last;
} Component;

struct ProgressiveDecoder {
  Component components[3];
  int count;
  /// The number of strips so far.
  size_t strips;
  HuffmanCodes codes;
  /// The tables of the current scan.
  HuffmanTable tables[3];
  unsigned interval;
  Segment segment;
  ScanLimits limits;
};

/// A scan that is read, and its components.
typedef struct Scan {
  ScanHeader header;
  Component *components[3];
  Band band;
} Scan;

static StoredBlock block_at(const Component *component, size_t number) {
  return (StoredBlock){component->values + number * component->valuesPerBlock, component->present + number,
                       component->slots};
}

/// Chooses the coefficients that are kept.
static void set_slots(Component *component) {
  uint8_t used = 0;
  component->used = 0;
  for (int i = 0; i < 64; i++) {
    bool isUsed = component->dequantizer.factors[i] != 0;
    component->slots[i] = isUsed ? used++ : UINT8_MAX;
    component->used |= (uint64_t)isUsed << i;
    component->missing[i] = -1;
  }
  for (int i = 0; i < 64; i++) {
    if (component->slots[i] == UINT8_MAX) component->slots[i] = used;
  }
  component->valuesPerBlock = used + (used < 64);
}

static size_t rounded_up(size_t count, size_t unit) { return (count + unit - 1) / unit * unit; }

static bool set_component(Component *component, j_decompress_ptr cinfo, const jpeg_component_info *info) {
  if (!cimage_dequantizer_init(&component->dequantizer, cinfo, info)) return false;
  component->side = SAMPLES_ACROSS(info);
  component->unitAcross = (size_t)info->h_samp_factor;
  component->unitDown = (size_t)info->v_samp_factor;
  component->across = info->width_in_blocks;
  component->down = info->height_in_blocks;
  component->stride = rounded_up(component->across, component->unitAcross);
  component->rows = rounded_up(component->down, component->unitDown);
  set_slots(component);
  return true;
}

/// Allocates the coefficients, which are zero. Returns false if they exceed the limit.
static bool allocate(ProgressiveDecoder *self) {
  size_t total = 0;
  for (int i = 0; i < self->count; i++) {
    const Component *component = &self->components[i];
    total += component->stride * component->rows * (sizeof(uint64_t) + component->valuesPerBlock * sizeof(int16_t));
  }
  if (total > self->limits.maxMemory) return false;
  for (int i = 0; i < self->count; i++) {
    Component *component = &self->components[i];
    size_t blocks = component->stride * component->rows;
    component->present = calloc(blocks, sizeof *component->present);
    component->values = calloc(blocks * component->valuesPerBlock, sizeof *component->values);
    if (component->present == NULL || component->values == NULL) return false;
  }
  return true;
}

/// Copies the tables that precede the first scan.
static void copy_codes(HuffmanCodes *codes, j_decompress_ptr cinfo) {
  for (int i = 0; i < NUM_HUFF_TBLS; i++) {
    codes->hasDC[i] = cinfo->dc_huff_tbl_ptrs[i] != NULL;
    codes->hasAC[i] = cinfo->ac_huff_tbl_ptrs[i] != NULL;
    if (codes->hasDC[i]) codes->dc[i] = *cinfo->dc_huff_tbl_ptrs[i];
    if (codes->hasAC[i]) codes->ac[i] = *cinfo->ac_huff_tbl_ptrs[i];
  }
}

/// Notes the bits that a scan has. Returns false if they are not those that come next.
static bool note_bits(const ScanHeader *header, Component *component) {
  if (header->first > 0 && component->missing[0] < 0) return false;
  for (int i = header->first; i <= header->last; i++) {
    if (component->missing[i] != (header->high == 0 ? -1 : header->high)) return false;
    component->missing[i] = (int8_t)header->low;
  }
  return true;
}

/// Returns false if the header of a scan is unusual.
static bool is_ordinary_scan(const ScanHeader *header) {
  bool isDC = header->first == 0;
  if (isDC ? header->last != 0 : header->count != 1 || header->last < header->first || header->last > 63) return false;
  return header->low <= maxShift && (header->high == 0 || header->low == header->high - 1);
}

/// Prepares the tables of a scan. Returns false if one is missing or invalid.
static bool set_tables(ProgressiveDecoder *self, const Scan *scan) {
  const ScanHeader *header = &scan->header;
  if (header->first > 0) {
    int number = header->acTables[0];
    CodeUse use = header->high == 0 ? CodesOfBand : CodesOfRefinement;
    return number < NUM_HUFF_TBLS && self->codes.hasAC[number] &&
           cimage_huffman_init(&self->tables[0], &self->codes.ac[number], use);
  }
  for (int i = 0; i < header->count && header->high == 0; i++) {
    int number = header->dcTables[i];
    if (number >= NUM_HUFF_TBLS || !self->codes.hasDC[number] ||
        !cimage_huffman_init(&self->tables[i], &self->codes.dc[number], CodesOfDC)) {
      return false;
    }
  }
  return true;
}

/// Begins predictions and runs, at the start of a segment.
static void reset(Scan *scan) {
  for (int i = 0; i < scan->header.count; i++) scan->components[i]->last = 0;
  scan->band.ended = 0;
}

/// Passes the restart marker, if there should be one, and makes sure that the next MCU is in the window.
static bool begin_unit(ProgressiveDecoder *self, Scan *scan) {
  if (self->segment.untilRestart == 0) {
    if (!cimage_segment_restart(&self->segment)) return false;
    reset(scan);
  }
  self->segment.untilRestart -= 1;
  return segment_advance(&self->segment);
}

/// Reads the first bits of a DC coefficient, or one more.
static inline bool read_dc_bits(BitReader *reader, const Scan *scan, const HuffmanTable *table, Component *component,
                                StoredBlock block) {
  read_bits(reader);
  if (scan->header.high > 0) {
    block.values[0] |= (int16_t)(reader->bits >> 63 << scan->band.shift);
    drop_bits(reader, 1);
    return true;
  }
  if (!read_dc(reader, table, &component->last)) return false;
  int32_t value = component->last * (1 << scan->band.shift);
  block.values[0] = (int16_t)value;
  return value >= -INT16_MAX && value <= INT16_MAX;
}

/// Reads the blocks of one component in an MCU.
static bool read_unit(ProgressiveDecoder *self, const Scan *scan, int number, size_t x, size_t y) {
  Component *component = scan->components[number];
  for (size_t down = 0; down < component->unitDown; down++) {
    for (size_t across = 0; across < component->unitAcross; across++) {
      size_t row = y * component->unitDown + down, column = x * component->unitAcross + across;
      StoredBlock block = block_at(component, row * component->stride + column);
      if (!read_dc_bits(&self->segment.reader, scan, &self->tables[number], component, block)) return false;
    }
  }
  return true;
}

/// Reads the DC coefficients of several components.
static bool read_together(ProgressiveDecoder *self, Scan *scan) {
  const Component *first = scan->components[0];
  size_t across = first->stride / first->unitAcross, down = first->rows / first->unitDown;
  for (size_t y = 0; y < down; y++) {
    for (size_t x = 0; x < across; x++) {
      if (!begin_unit(self, scan)) return false;
      for (int i = 0; i < scan->header.count; i++) {
        if (!read_unit(self, scan, i, x, y)) return false;
      }
    }
  }
  return true;
}

/// Reads the part of a block that a scan of one component has.
static inline bool read_alone(BitReader *reader, Scan *scan, const HuffmanTable *table, StoredBlock block) {
  Band *band = &scan->band;
  if (band->first == 0) return read_dc_bits(reader, scan, table, scan->components[0], block);
  if (scan->header.high > 0) {
    if (!read_low_bits(reader, band, block)) return false;
  } else {
    if (band->ended == 0 && !read_high_bits(reader, band, block)) return false;
  }
  if (band->ended > 0) band->ended -= 1;
  return true;
}

/// Reads a scan of one component.
static bool read_single(ProgressiveDecoder *self, Scan *scan) {
  const Component *component = scan->components[0];
  for (size_t y = 0; y < component->down; y++) {
    for (size_t x = 0; x < component->across; x++) {
      if (!begin_unit(self, scan)) return false;
      BitReader reader = self->segment.reader;
      if (!read_alone(&reader, scan, self->tables, block_at(component, y * component->stride + x))) return false;
      self->segment.reader = reader;
    }
  }
  return true;
}

/// Prepares a scan. Returns false if it is unusual or comes out of order.
static bool begin_scan(ProgressiveDecoder *self, Scan *scan) {
  const ScanHeader *header = &scan->header;
  size_t blocks = 0;
  if (!is_ordinary_scan(header) || !set_tables(self, scan)) return false;
  for (int i = 0; i < header->count; i++) {
    Component *component = scan->components[i] = &self->components[header->components[i]];
    blocks += component->unitAcross * component->unitDown;
    if (!note_bits(header, component)) return false;
  }
  scan->band = (Band){self->tables, (uint32_t)header->first, (uint32_t)header->last, header->low, 0};
  reset(scan);
  return header->count == 1 || blocks <= D_MAX_BLOCKS_IN_MCU;
}

/// Reads the data of a scan. Returns the marker after it; NULL if its data is not exactly as it should be.
static const uint8_t *read_scan(ProgressiveDecoder *self, Scan *scan, const uint8_t *data, const uint8_t *end) {
  if (!begin_scan(self, scan)) return NULL;
  cimage_segment_begin(&self->segment, data, end, self->interval);
  bool isRead = scan->header.count == 1 ? read_single(self, scan) : read_together(self, scan);
  return isRead && cimage_segment_end(&self->segment) != 0 ? self->segment.rest : NULL;
}

/// Reads or skips the scan whose header begins at `segment`. Returns the marker after it; NULL if it is unusual.
static const uint8_t *pass_scan(ProgressiveDecoder *self, j_decompress_ptr cinfo, const uint8_t *segment,
                                const uint8_t *end) {
  Scan scan;
  if (!cimage_jpeg_read_scan(&scan.header, cinfo, segment)) return NULL;
  const uint8_t *data = segment + 6 + 2 * scan.header.count;
  const Component *component = &self->components[scan.header.components[0]];
  if (scan.header.first == 0 || component->side > 1) return read_scan(self, &scan, data, end);
  bool isSkipped = self->limits.leavesOut && scan.header.count == 1 && component->missing[0] >= 0;
  return isSkipped ? cimage_jpeg_next_marker(data, end) : NULL;
}

/// Returns true if all bits of all coefficients are read. If some are missing, libjpeg smooths blocks. Those of skipped
/// scans do not count.
static bool has_all_bits(const ProgressiveDecoder *self) {
  for (int i = 0; i < self->count; i++) {
    const Component *component = &self->components[i];
    for (int number = 0; number < (component->side == 1 && self->limits.leavesOut ? 1 : 64); number++) {
      if (component->missing[number] != 0) return false;
    }
  }
  return true;
}

/// Reads all scans, the header of the first of which ends at `data`.
static bool read_scans(ProgressiveDecoder *self, j_decompress_ptr cinfo, const uint8_t *data, const uint8_t *end) {
  const uint8_t *marker = pass_scan(self, cinfo, data - 6 - 2 * cinfo->comps_in_scan, end);
  for (int scans = 1; marker != NULL && end - marker >= 2 && marker[0] == 0xFF;) {
    if (marker[1] == markerEOI) return has_all_bits(self);
    const uint8_t *after = cimage_jpeg_after_segment(marker, end);
    if (after == NULL) return false;
    if (marker[1] == markerSOS) {
      if (++scans > self->limits.maxScans) return false;
      marker = pass_scan(self, cinfo, marker + 2, end);
    } else {
      if (marker[1] != markerDHT || !cimage_jpeg_read_codes(&self->codes, marker + 2)) return false;
      marker = after;
    }
  }
  return false;
}

static bool open(ProgressiveDecoder *self, j_decompress_ptr cinfo, const uint8_t *end) {
  self->count = cinfo->num_components;
  self->interval = cinfo->restart_interval;
  for (int i = 0; i < self->count; i++) {
    if (!set_component(&self->components[i], cinfo, &cinfo->comp_info[i])) return false;
  }
  copy_codes(&self->codes, cinfo);
  return allocate(self) && read_scans(self, cinfo, cinfo->src->next_input_byte, end);
}

ProgressiveDecoder *cimage_progressive_open(j_decompress_ptr cinfo, const uint8_t *end, ScanLimits limits) {
  ProgressiveDecoder *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->limits = limits;
  if (open(self, cinfo, end)) return self;
  cimage_progressive_close(self);
  return NULL;
}

/// Dequantizes a block, and computes its samples.
static bool invert_block(const Component *component, size_t number, uint8_t *samples, size_t stride) {
  StoredBlock stored = block_at(component, number);
  const Dequantizer *dequantizer = &component->dequantizer;
  if (component->side == 1) return invert_to_1(stored.values[0] * dequantizer->factors[0], samples);
  int16_t values[64] __attribute__((aligned(32))) = {0};
  Extent extent;
  Block block = {values, &extent};
  put_dc(block, dequantizer, stored.values[0]);
  for (uint64_t left = *stored.present & component->used; left != 0; left &= left - 1) {
    uint32_t index = (uint32_t)__builtin_ctzll(left);
    put_ac(block, dequantizer, index, stored.values[stored.slots[index]]);
  }
  return invert(block, component->side, samples, stride);
}

static bool invert_strip(const Component *component, size_t strip, const CImageBitmap *samples) {
  size_t first = strip * component->unitDown, side = (size_t)component->side;
  for (size_t row = 0; row < component->unitDown && first + row < component->down; row++) {
    uint8_t *out = samples->pixels + row * side * samples->stride;
    for (size_t x = 0; x < component->across; x++) {
      size_t number = (first + row) * component->stride + x;
      if (!invert_block(component, number, out + x * side, samples->stride)) return false;
    }
  }
  return true;
}

bool cimage_progressive_read(ProgressiveDecoder *self, const PlaneReader *reader) {
  for (int i = 0; i < self->count; i++) {
    if (reader->strips[i].height == 0) continue;
    if (!invert_strip(&self->components[i], self->strips, &reader->strips[i])) return false;
  }
  self->strips += 1;
  return true;
}

void cimage_progressive_close(ProgressiveDecoder *self) {
  if (self == NULL) return;
  for (int i = 0; i < self->count; i++) {
    free(self->components[i].values);
    free(self->components[i].present);
  }
  free(self);
}
