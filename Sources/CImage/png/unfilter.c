// Most of the time goes into Paeth rows, where each pixel depends on the one before it. So two to four rows are
// finished together, each one pixel behind the row above it: the pixel above is then the pixel to the left of the row
// before, and is in a register.

#include "unfilter.h"

#include <string.h>

#include "../simd.h"
#include "filter.h"

/// The bytes of the pixels in progress, in 16 bits each, because differences of bytes need nine.
typedef int16_t Lanes __attribute__((vector_size(16)));
typedef uint8_t Bytes __attribute__((vector_size(8)));

/// Functions that must be compiled once per number of bytes per pixel.
#define SPECIALIZED static inline __attribute__((always_inline))

/// Loads `count` bytes into the lowest lanes. The other ones are 0.
SPECIALIZED Lanes load(const uint8_t *bytes, size_t count) {
  Bytes loaded = {0};
  memcpy(&loaded, bytes, count);
  return __builtin_convertvector(loaded, Lanes);
}

/// Stores the lowest `count` lanes.
SPECIALIZED void store(Lanes lanes, uint8_t *bytes, size_t count) {
  Bytes low = __builtin_convertvector(lanes, Bytes);
  memcpy(bytes, &low, count);
}

SPECIALIZED Lanes choose(Lanes mask, Lanes yes, Lanes no) { return (mask & yes) | (~mask & no); }

/// Returns the prediction of the filter type Paeth (section 9.4).
SPECIALIZED Lanes paeth(Lanes left, Lanes above, Lanes corner) {
  Lanes fromLeft = above - corner, fromAbove = left - corner;
  Lanes fromCorner = __builtin_elementwise_abs(fromLeft + fromAbove);
  fromLeft = __builtin_elementwise_abs(fromLeft);
  fromAbove = __builtin_elementwise_abs(fromAbove);
  Lanes least = __builtin_elementwise_min(fromCorner, __builtin_elementwise_min(fromLeft, fromAbove));
  return choose((Lanes)(least == fromLeft), left, choose((Lanes)(least == fromAbove), above, corner));
}

// MARK: One row

SPECIALIZED void undo_sub(uint8_t *row, size_t count, size_t step) {
  Lanes left = {0};
  for (size_t i = 0; i < count; i += step) {
    left = (left + load(row + i, step)) & 0xFF;
    store(left, row + i, step);
  }
}

SPECIALIZED void undo_up(uint8_t *restrict row, const uint8_t *restrict above, size_t count) {
  for (size_t i = 0; i < count; i++) row[i] = (uint8_t)(row[i] + above[i]);
}

SPECIALIZED void undo_average(uint8_t *row, const uint8_t *above, size_t count, size_t step) {
  Lanes left = {0};
  for (size_t i = 0; i < count; i += step) {
    Lanes up = above != NULL ? load(above + i, step) : (Lanes){0};
    left = (load(row + i, step) + ((left + up) >> 1)) & 0xFF;
    store(left, row + i, step);
  }
}

SPECIALIZED void undo_paeth(uint8_t *row, const uint8_t *above, size_t count, size_t step) {
  Lanes left = {0}, corner = {0};
  for (size_t i = 0; i < count; i += step) {
    Lanes up = load(above + i, step);
    left = (load(row + i, step) + paeth(left, up, corner)) & 0xFF;
    corner = up;
    store(left, row + i, step);
  }
}

/// Reverses the filter of a row of `count` bytes. `above` is NULL for the first row of the image, above which all bytes
/// count as 0.
SPECIALIZED void unfilter(uint8_t *row, const uint8_t *above, size_t count, size_t step) {
  switch (row[-1]) {
    case filterSub: undo_sub(row, count, step); break;
    case filterUp:
      if (above != NULL) undo_up(row, above, count);
      break;
    case filterAverage: undo_average(row, above, count, step); break;
    // Without a row above, the prediction is the pixel to the left.
    case filterPaeth: above != NULL ? undo_paeth(row, above, count, step) : undo_sub(row, count, step); break;
    default: break;
  }
}

// MARK: Several Paeth rows

/// The state of finishing several rows together. Each has `8 / rowCount` lanes.
typedef struct Wave {
  uint8_t *row;
  const uint8_t *above;
  /// The number of bytes from one row to the next.
  size_t pitch;
  ptrdiff_t pixelCount;
  /// The finished pixels to the left, and those above them.
  Lanes left, corner;
} Wave;

/// Returns the pixels above: of the first row the loaded ones, of the others the last ones of the row before.
SPECIALIZED Lanes move_down(Lanes top, Lanes left, int rowCount) {
  return rowCount == 2 ? __builtin_shufflevector(top, left, 0, 1, 2, 3, 8, 9, 10, 11)
                       : __builtin_shufflevector(top, left, 0, 1, 8, 9, 10, 11, 12, 13);
}

/// Finishes the pixel `x` of the first row, `x - 1` of the second, and so on. At the ends of the rows, some of them are
/// outside; `isInside` promises that none is.
SPECIALIZED void advance(Wave *wave, ptrdiff_t x, size_t step, int rowCount, bool isInside) {
  const int width = 8 / rowCount;
  Bytes raw = {0};
  Lanes live = {0};
  for (int r = 0; r < rowCount; r++) {
    if (!isInside && (x < r || x - r >= wave->pixelCount)) continue;
    memcpy((uint8_t *)&raw + r * width, wave->row + (size_t)r * wave->pitch + (size_t)(x - r) * step, step);
    for (int i = 0; i < width; i++) live[r * width + i] = -1;
  }
  Lanes top = x < wave->pixelCount ? load(wave->above + (size_t)x * step, step) : (Lanes){0};
  Lanes above = move_down(top, wave->left, rowCount);
  Lanes done = (__builtin_convertvector(raw, Lanes) + paeth(wave->left, above, wave->corner)) & 0xFF;
  // The pixels before the first one of a row count as 0.
  wave->left = isInside ? done : done & live;
  wave->corner = isInside ? above : above & live;
  Bytes bytes = __builtin_convertvector(done, Bytes);
  for (int r = 0; r < rowCount; r++) {
    if (!isInside && (x < r || x - r >= wave->pixelCount)) continue;
    memcpy(wave->row + (size_t)r * wave->pitch + (size_t)(x - r) * step, (uint8_t *)&bytes + r * width, step);
  }
}

SPECIALIZED void undo_paeth_rows(uint8_t *row, const uint8_t *above, size_t count, size_t step, int rowCount) {
  Wave wave = {.row = row, .above = above, .pitch = count + 1, .pixelCount = (ptrdiff_t)(count / step)};
  ptrdiff_t x = 0, end = wave.pixelCount + rowCount - 1;
  for (; x < rowCount - 1; x++) advance(&wave, x, step, rowCount, false);
  for (; x < wave.pixelCount; x++) advance(&wave, x, step, rowCount, true);
  for (; x < end; x++) advance(&wave, x, step, rowCount, false);
}

// MARK: All rows

/// Returns the number of Paeth rows from `y` on, at most `most`.
static size_t paeth_count(FilteredRows rows, size_t y, size_t end, size_t most) {
  size_t count = 0;
  while (count < most && y + count < end && rows.bytes[(y + count) * (rows.rowBytes + 1)] == filterPaeth) count++;
  return count;
}

SPECIALIZED void unfilter_rows(FilteredRows rows, size_t first, size_t end, size_t step) {
  const size_t most = step <= 2 ? 4 : 2;
  for (size_t y = first; y < end;) {
    uint8_t *row = rows.bytes + y * (rows.rowBytes + 1) + 1;
    const uint8_t *above = y > 0 ? row - rows.rowBytes - 1 : NULL;
    size_t count = above != NULL ? paeth_count(rows, y, end, most) : 0;
    if (count == 4) {
      undo_paeth_rows(row, above, rows.rowBytes, step, 4);
      y += 4;
    } else if (count >= 2) {
      undo_paeth_rows(row, above, rows.rowBytes, step, 2);
      y += 2;
    } else {
      unfilter(row, above, rows.rowBytes, step);
      y += 1;
    }
  }
}

bool cimage_filters_are_known(FilteredRows rows) {
  for (size_t y = 0; y < rows.count; y++) {
    if (rows.bytes[y * (rows.rowBytes + 1)] >= filterCount) return false;
  }
  return true;
}

WITH_AVX2 void cimage_unfilter_rows(FilteredRows rows, size_t first, size_t end) {
  switch (rows.step) {
    case 1: unfilter_rows(rows, first, end, 1); break;
    case 2: unfilter_rows(rows, first, end, 2); break;
    case 3: unfilter_rows(rows, first, end, 3); break;
    default: unfilter_rows(rows, first, end, 4); break;
  }
}
