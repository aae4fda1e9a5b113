// Resizing with AVX2 where the compiler's own vectorization is half as fast: the first pass for any number of channels,
// and the second pass for one channel.

#ifndef CIMAGE_RESIZE_AVX2_H
#define CIMAGE_RESIZE_AVX2_H

#include <stdbool.h>

#include "kernel.h"

/// The number of target rows processed together.
enum { band = 8 };

/// The number of fractional bits kept between the passes.
enum { middleBits = 6 };

/// Converts a sum of weighted bytes to a sample between the passes.
static inline int16_t to_middle(int32_t sum) {
  int32_t value = (sum + (1 << (weightBits - middleBits - 1))) >> (weightBits - middleBits);
  return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

/// The number of bytes of a row processed together. Rows must have at least as many.
enum { avx2Block = 16 };

/// Returns true if the processor supports AVX2.
bool cimage_has_avx2(void);

/// Filters `byteCount` columns of bytes for `band` target rows. For target row r, `rows[r]` is the first source row,
/// `taps[r]` its taps, and `weights` the weights of all rows. Sample x of target row r is written to
/// `middle[x * band + r]`. The results equal those of the plain C code to the last bit.
void cimage_filter_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                const int16_t *weights, size_t byteCount, int16_t *middle);

/// Filters columns like `cimage_filter_columns_avx2`, for one channel. The samples of two columns are adjacent, because
/// one instruction weighs both: sample x of target row r is written to `middle[(x / 2 * band + r) * 2 + x % 2]`.
void cimage_filter_gray_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                     const int16_t *weights, size_t byteCount, int16_t *middle);

/// The number of target columns processed together. Targets must have at least as many.
enum { avx2Columns = 4 };

/// Filters `count` (at most `band`) rows of `width` samples into `target`. `middle` begins with the source sample
/// `first`, which is even, and ends with a complete pair.
void cimage_filter_gray_rows_avx2(const int16_t *middle, int32_t first, const CImageKernel *across, uint8_t *target,
                                  size_t stride, int32_t width, int32_t count);

#endif
