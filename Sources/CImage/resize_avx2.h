// The first pass of a resize with AVX2, where the compiler's own vectors leave half of the machine unused.

#ifndef CIMAGE_RESIZE_AVX2_H
#define CIMAGE_RESIZE_AVX2_H

#include <stdbool.h>

#include "kernel.h"

/// Target rows worked on together.
enum { band = 8 };

/// Binary places kept between the passes.
enum { middleBits = 6 };

/// Bytes of a row worked on together; narrower rows are not for this.
enum { avx2Block = 16 };

/// Whether this machine can.
bool cimage_has_avx2(void);

/// Filters `byteCount` bytes of each column under `source` for `band` target rows. `rows` names for each the first of
/// its source rows, `taps` how many there are, `weights` what they weigh. Sample x of target row r is then at
/// `middle[x * band + r]`: the same numbers, to the last bit, as the plain C gives.
void cimage_filter_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                const int16_t *weights, size_t byteCount, int16_t *middle);

#endif
