// A resize with AVX2, where the compiler's own vectors leave half of the machine unused: the first pass for any number
// of channels, and the second for one.

#ifndef CIMAGE_RESIZE_AVX2_H
#define CIMAGE_RESIZE_AVX2_H

#include <stdbool.h>

#include "kernel.h"

/// Target rows worked on together.
enum { band = 8 };

/// Binary places kept between the passes.
enum { middleBits = 6 };

/// From sums of weighed bytes to what is kept between the passes.
static inline int16_t to_middle(int32_t sum) {
  int32_t value = (sum + (1 << (weightBits - middleBits - 1))) >> (weightBits - middleBits);
  return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

/// Bytes of a row worked on together; narrower rows are not for this.
enum { avx2Block = 16 };

/// Whether this machine can.
bool cimage_has_avx2(void);

/// Filters `byteCount` bytes of each column under `source` for `band` target rows. `rows` names for each the first of
/// its source rows, `taps` how many there are, `weights` what they weigh. Sample x of target row r is then at
/// `middle[x * band + r]`: the same numbers, to the last bit, as the plain C gives.
void cimage_filter_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                const int16_t *weights, size_t byteCount, int16_t *middle);

/// The order of samples between the passes where there is one channel: those of two columns side by side, because one
/// instruction weighs both. Sample x of target row r is at `middle[(x / 2 * band + r) * 2 + x % 2]`.
void cimage_filter_gray_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                     const int16_t *weights, size_t byteCount, int16_t *middle);

/// Target columns worked on together; narrower targets are not for this.
enum { avx2Columns = 4 };

/// Filters along the rows, for `count` (at most `band`) rows of `width` samples from `target` on. `middle` begins with
/// the sample `first` of the source, which is even, and ends with a whole pair.
void cimage_filter_gray_rows_avx2(const int16_t *middle, int32_t first, const CImageKernel *across, uint8_t *target,
                                  size_t stride, int32_t width, int32_t count);

#endif
