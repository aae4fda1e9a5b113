// A separable resize: first down the columns, then along the rows.
//
// The first pass reads each source row once per target row it contributes to, as plain bytes, regardless of channels.
// Its results are interleaved for `band` rows, so that the second pass works on `band` rows at once with the same few
// instructions for any number of channels.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "CImage.h"
#include "resize_avx2.h"
#include "scaler.h"
#include "simd.h"

/// Source bytes filtered together in the first pass; their sums stay in registers.
enum { block = 16 };

struct SampleScaler {
  Resize resize;
  /// The rows of the source that are available, the first of which has the number `firstRow`.
  CImageBitmap source;
  int32_t firstRow;
  /// The next row of the target.
  int32_t next;
  /// `band` target rows of filtered source columns, interleaved: sample x of row r is at `x * band + r`.
  int16_t *middle;
};

/// Returns the source row with this number, from the first needed column on.
static const uint8_t *source_row(const SampleScaler *self, int32_t y) {
  return self->source.pixels + (size_t)(y - self->firstRow) * self->source.stride + self->resize.columns.first;
}

static inline uint8_t to_byte(int32_t sum) {
  int32_t value = (sum + (1 << (weightBits + middleBits - 1))) >> (weightBits + middleBits);
  return (uint8_t)(value > 255 ? 255 : value < 0 ? 0 : value);
}

/// Filters `count` (at most `block`) adjacent bytes down the column.
static inline void filter_block(const uint8_t *top, size_t stride, Taps taps, const int16_t *weights, size_t count,
                                int16_t *middle) {
  int32_t sums[block] = {0};
  for (int32_t k = 0; k < taps.count; k++, top += stride) {
    for (size_t i = 0; i < count; i++) sums[i] += weights[k] * top[i];
  }
  for (size_t i = 0; i < count; i++) middle[i * band] = to_middle(sums[i]);
}

/// First pass: one target row, still as wide as the source.
WITH_AVX2 static void filter_columns(const SampleScaler *self, int32_t y, int16_t *middle) {
  Taps taps = self->resize.down->taps[y];
  const int16_t *weights = self->resize.down->weights + taps.offset;
  const uint8_t *top = source_row(self, taps.first);
  size_t x = 0;
  for (; x + block <= self->resize.columns.count; x += block) {
    filter_block(top + x, self->source.stride, taps, weights, block, middle + x * band);
  }
  if (x < self->resize.columns.count) {
    filter_block(top + x, self->source.stride, taps, weights, self->resize.columns.count - x, middle + x * band);
  }
}

/// First pass for `count` target rows with AVX2. An incomplete band repeats its last row.
static void filter_band_avx2(const SampleScaler *self, int32_t y, int32_t count) {
  const uint8_t *rows[band];
  Taps taps[band];
  for (int32_t r = 0; r < band; r++) {
    taps[r] = self->resize.down->taps[y + (r < count ? r : count - 1)];
    rows[r] = source_row(self, taps[r].first);
  }
  (self->resize.target.channels == 1 ? cimage_filter_gray_columns_avx2 : cimage_filter_columns_avx2)(
      rows, self->source.stride, taps, self->resize.down->weights, self->resize.columns.count, self->middle);
}

/// Second pass for one sample of `band` rows.
static inline void filter_sample(const int16_t *middle, size_t step, Taps taps, const int16_t *weights,
                                 uint8_t *bytes) {
  int32_t sums[band] = {0};
  for (int32_t k = 0; k < taps.count; k++, middle += step) {
    for (int r = 0; r < band; r++) sums[r] += weights[k] * middle[r];
  }
  for (int r = 0; r < band; r++) bytes[r] = to_byte(sums[r]);
}

/// Second pass: `count` finished rows from `y`.
WITH_AVX2 static void filter_rows(const SampleScaler *self, int32_t y, int32_t count) {
  size_t channels = (size_t)self->resize.target.channels;
  uint8_t *out = self->resize.target.pixels + (size_t)y * self->resize.target.stride;
  for (int32_t x = 0; x < self->resize.target.width; x++) {
    Taps taps = self->resize.across->taps[x];
    const int16_t *middle = self->middle + ((size_t)taps.first * channels - self->resize.columns.first) * band;
    for (size_t channel = 0; channel < channels; channel++, out++) {
      uint8_t bytes[band];
      filter_sample(middle + channel * band, channels * band, taps, self->resize.across->weights + taps.offset, bytes);
      for (int32_t r = 0; r < count; r++) out[(size_t)r * self->resize.target.stride] = bytes[r];
    }
  }
}

/// Both passes for `count` target rows.
static void resize_band(const SampleScaler *self, int32_t y, int32_t count) {
  bool isWide = self->resize.columns.count >= avx2Block && self->resize.target.width >= avx2Columns;
  if (!isWide || !cimage_has_avx2()) {
    for (int32_t r = 0; r < count; r++) filter_columns(self, y + r, self->middle + r);
    filter_rows(self, y, count);
    return;
  }
  filter_band_avx2(self, y, count);
  if (self->resize.target.channels != 1) {
    filter_rows(self, y, count);
    return;
  }
  uint8_t *target = self->resize.target.pixels + (size_t)y * self->resize.target.stride;
  cimage_filter_gray_rows_avx2(self->middle, (int32_t)self->resize.columns.first, self->resize.across, target,
                               self->resize.target.stride, self->resize.target.width, count);
}

SampleScaler *cimage_sample_scaler_create(Resize resize) {
  SampleScaler *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->resize = resize;
  // Zeroed, so that the missing rows of the last band and the missing partner of an odd last column are defined.
  self->middle = calloc((resize.columns.count + 1) * band, sizeof(int16_t));
  if (self->middle != NULL) return self;
  free(self);
  return NULL;
}

void cimage_sample_scaler_destroy(SampleScaler *self) {
  if (self == NULL) return;
  free(self->middle);
  free(self);
}

/// Returns the number of rows of the band that begins with the target row `y`.
static int32_t band_height(const SampleScaler *self, int32_t y) {
  return self->resize.target.height - y < band ? self->resize.target.height - y : band;
}

/// Returns the number of the source row after the last one that the band at `y` needs.
static int32_t band_end(const SampleScaler *self, int32_t y) {
  Taps last = self->resize.down->taps[y + band_height(self, y) - 1];
  return last.first + last.count;
}

void cimage_sample_scaler_advance(SampleScaler *self, CImageBitmap rows, int32_t first) {
  self->source = rows;
  self->firstRow = first;
  while (self->next < self->resize.target.height && band_end(self, self->next) <= first + rows.height) {
    int32_t count = band_height(self, self->next);
    resize_band(self, self->next, count);
    self->next += count;
  }
}

int32_t cimage_sample_scaler_first_row(const SampleScaler *self) {
  return self->next < self->resize.target.height ? self->resize.down->taps[self->next].first : INT32_MAX;
}
