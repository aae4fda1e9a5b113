// The filters that make the rows of a PNG file easier to compress (PNG Specification, section 9).

#ifndef CIMAGE_PNG_FILTER_H
#define CIMAGE_PNG_FILTER_H

#include <stddef.h>
#include <stdint.h>

/// Zeros that must stand before the first byte of `row` and of `above`: a pixel's worth.
enum { filterMargin = 4 };

/// Filters a row of `count` bytes every way, and writes the number of the way whose result has the least sum of
/// absolute differences, and that result, to `out`. `step` is the bytes of a pixel, at most `filterMargin`; `scratch`
/// is room for `count` bytes. `out` has room for `count + 1`.
void cimage_filter_row(const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *scratch,
                       uint8_t *out);

#endif
