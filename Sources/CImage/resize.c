// A separable resize: first down the columns, then along the rows.
//
// The first pass reads each source row once per target row it contributes to, as plain bytes, regardless of channels.
// Its results are interleaved for `band` rows, so that the second pass works on `band` rows at once with the same few
// instructions for any number of channels.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "CImage.h"
#include "kernel.h"
#include "resize_avx2.h"
#include "simd.h"

/// Source bytes filtered together in the first pass; their sums stay in registers.
enum { block = 16 };

/// The state shared by both passes.
typedef struct Resize {
  CImageBitmap source, target;
  const CImageKernel *down, *across;
  /// `band` target rows of filtered source columns, interleaved: sample x of row r is at `x * band + r`.
  int16_t *middle;
  /// The range of source bytes in a row that the target columns need.
  size_t firstByte, byteCount;
} Resize;

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
WITH_AVX2 static void filter_columns(const Resize *self, int32_t y, int16_t *middle) {
  Taps taps = self->down->taps[y];
  const int16_t *weights = self->down->weights + taps.offset;
  const uint8_t *top = self->source.pixels + (size_t)taps.first * self->source.stride + self->firstByte;
  size_t x = 0;
  for (; x + block <= self->byteCount; x += block) {
    filter_block(top + x, self->source.stride, taps, weights, block, middle + x * band);
  }
  if (x < self->byteCount) {
    filter_block(top + x, self->source.stride, taps, weights, self->byteCount - x, middle + x * band);
  }
}

/// First pass for `count` target rows with AVX2. An incomplete band repeats its last row.
static void filter_band_avx2(const Resize *self, int32_t y, int32_t count) {
  const uint8_t *rows[band];
  Taps taps[band];
  for (int32_t r = 0; r < band; r++) {
    taps[r] = self->down->taps[y + (r < count ? r : count - 1)];
    rows[r] = self->source.pixels + (size_t)taps[r].first * self->source.stride + self->firstByte;
  }
  (self->target.channels == 1 ? cimage_filter_gray_columns_avx2 : cimage_filter_columns_avx2)(
      rows, self->source.stride, taps, self->down->weights, self->byteCount, self->middle);
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
WITH_AVX2 static void filter_rows(const Resize *self, int32_t y, int32_t count) {
  size_t channels = (size_t)self->target.channels;
  uint8_t *out = self->target.pixels + (size_t)y * self->target.stride;
  for (int32_t x = 0; x < self->target.width; x++) {
    Taps taps = self->across->taps[x];
    const int16_t *middle = self->middle + ((size_t)taps.first * channels - self->firstByte) * band;
    for (size_t channel = 0; channel < channels; channel++, out++) {
      uint8_t bytes[band];
      filter_sample(middle + channel * band, channels * band, taps, self->across->weights + taps.offset, bytes);
      for (int32_t r = 0; r < count; r++) out[(size_t)r * self->target.stride] = bytes[r];
    }
  }
}

/// Both passes for `count` target rows.
static void resize_band(const Resize *self, int32_t y, int32_t count) {
  bool isWide = self->byteCount >= avx2Block && self->target.width >= avx2Columns;
  if (!isWide || !cimage_has_avx2()) {
    for (int32_t r = 0; r < count; r++) filter_columns(self, y + r, self->middle + r);
    filter_rows(self, y, count);
    return;
  }
  filter_band_avx2(self, y, count);
  if (self->target.channels != 1) {
    filter_rows(self, y, count);
    return;
  }
  uint8_t *target = self->target.pixels + (size_t)y * self->target.stride;
  cimage_filter_gray_rows_avx2(self->middle, (int32_t)self->firstByte, self->across, target, self->target.stride,
                               self->target.width, count);
}

/// Finds the range of source columns that the target needs: all of them unless the image is cropped.
static void find_needed_columns(Resize *self) {
  int32_t first = INT32_MAX, end = 0;
  for (int32_t x = 0; x < self->target.width; x++) {
    Taps taps = self->across->taps[x];
    if (taps.first < first) first = taps.first;
    if (taps.first + taps.count > end) end = taps.first + taps.count;
  }
  // Start at an even column, so that columns can be read in pairs.
  first -= first & 1;
  self->firstByte = (size_t)first * (size_t)self->source.channels;
  self->byteCount = (size_t)(end - first) * (size_t)self->source.channels;
}

CImageStatus cimage_resize(CImageBitmap source, const CImageKernel *across, const CImageKernel *down,
                           CImageBitmap target) {
  Resize self = {.source = source, .target = target, .across = across, .down = down};
  find_needed_columns(&self);
  // Zeroed, so that the missing rows of the last band and the missing partner of an odd last column are defined.
  self.middle = calloc((self.byteCount + 1) * band, sizeof(int16_t));
  if (self.middle == NULL) return CImageStatusOutOfMemory;
  for (int32_t y = 0; y < target.height; y += band) {
    int32_t count = target.height - y < band ? target.height - y : band;
    resize_band(&self, y, count);
  }
  free(self.middle);
  return CImageStatusOK;
}
