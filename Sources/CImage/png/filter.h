// The filters that make the rows of a PNG file more compressible (PNG Specification, section 9).

#ifndef CIMAGE_PNG_FILTER_H
#define CIMAGE_PNG_FILTER_H

#include <stddef.h>
#include <stdint.h>

/// The types of filters, as they are stored before each row.
enum { filterNone, filterSub, filterUp, filterAverage, filterPaeth, filterCount };

/// The number of zeros required before the first byte of `row` and of `above`: at least one pixel.
enum { filterMargin = 4 };

/// Tries every filter on a row of `count` bytes, and writes to `out` the type of the filter with the least sum of
/// absolute differences, followed by the filtered row. `step` is the number of bytes per pixel, at most `filterMargin`.
/// `scratch` has space for `count` bytes, `out` for `count + 1`.
void cimage_filter_row(const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *scratch,
                       uint8_t *out);

#endif
