/// The minimum work of any thumbnail program, to measure the cost of the codec alone: decodes with the same DCT shrink,
/// takes the nearest pixels, and encodes with the library's defaults. No color management, orientation or filter.

#ifndef BARE_LOOP_H
#define BARE_LOOP_H

#include <stddef.h>

/// Makes a JPEG thumbnail that fits in a square of `side` pixels. Returns its size; the caller frees `*thumbnail`.
size_t bare_jpeg(const unsigned char *bytes, size_t count, unsigned side, unsigned char **thumbnail);

/// Makes a PNG thumbnail that fits in a square of `side` pixels. Returns its size; the caller frees `*thumbnail`.
size_t bare_png(const unsigned char *bytes, size_t count, unsigned side, unsigned char **thumbnail);

#endif
