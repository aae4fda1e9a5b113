#include "filter.h"

#include <string.h>

#include "../simd.h"

static inline int16_t distance(int16_t value) { return (int16_t)(value < 0 ? -value : value); }

/// The Paeth predictor: returns whichever of left, above and upper left is closest to left + above - upper left.
static inline uint8_t paeth(uint8_t left, uint8_t above, uint8_t corner) {
  int16_t fromLeft = (int16_t)(above - corner), fromAbove = (int16_t)(left - corner);
  int16_t fromCorner = distance((int16_t)(fromLeft + fromAbove));
  fromLeft = distance(fromLeft);
  fromAbove = distance(fromAbove);
  uint8_t other = fromAbove <= fromCorner ? above : corner;
  return fromLeft <= fromAbove && fromLeft <= fromCorner ? left : other;
}

WITH_AVX2 static void filter(int kind, const uint8_t *row, const uint8_t *above, size_t step, size_t count,
                             uint8_t *restrict out) {
  const uint8_t *left = row - step, *corner = above - step;
  switch (kind) {
    case filterNone: memcpy(out, row, count); break;
    case filterSub: for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(row[i] - left[i]); break;
    case filterUp: for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(row[i] - above[i]); break;
    case filterAverage:
      for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(row[i] - (left[i] + above[i]) / 2);
      break;
    default:
      for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(row[i] - paeth(left[i], above[i], corner[i]));
      break;
  }
}

/// Returns the sum of the absolute values of the bytes, taken as signed differences.
WITH_AVX2 static uint64_t cost(const uint8_t *bytes, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += (uint64_t)(bytes[i] < 128 ? bytes[i] : 256 - bytes[i]);
  return sum;
}

void cimage_filter_row(const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *scratch,
                       uint8_t *out) {
  uint64_t least = UINT64_MAX;
  for (int kind = filterNone; kind < filterCount; kind++) {
    filter(kind, row, above, step, count, scratch);
    uint64_t sum = cost(scratch, count);
    if (sum >= least) continue;
    least = sum;
    out[0] = (uint8_t)kind;
    memcpy(out + 1, scratch, count);
  }
}
