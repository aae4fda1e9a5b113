// Reverses the filters of the rows of a PNG file (PNG Specification, section 9).

#ifndef CIMAGE_PNG_UNFILTER_H
#define CIMAGE_PNG_UNFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Filtered rows, one after the other in memory, each of which follows a byte with the type of its filter.
typedef struct FilteredRows {
  /// The type of the first row's filter.
  uint8_t *bytes;
  /// The number of rows.
  size_t count;
  /// The number of bytes of a row, without the type of its filter.
  size_t rowBytes;
  /// The number of bytes per pixel: 1 to 4.
  size_t step;
} FilteredRows;

/// Returns true if the filters of all rows have a known type.
bool cimage_filters_are_known(FilteredRows rows);

/// Reverses the filters of the rows from `first` to before `end`, in place. Those before `first` must be finished.
void cimage_unfilter_rows(FilteredRows rows, size_t first, size_t end);

#endif
