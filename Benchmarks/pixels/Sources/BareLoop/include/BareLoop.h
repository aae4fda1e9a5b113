/// The least that any program does to make a thumbnail: decode with the same DCT shrink, take the nearest pixels, encode
/// with the library's defaults. No colour management, no orientation, no filter: what the codec alone costs.

#ifndef BARE_LOOP_H
#define BARE_LOOP_H

#include <stddef.h>

/// Makes a thumbnail that fits in a square of `side` pixels. `*thumbnail` is freed by the caller. Returns its size.
size_t bare_jpeg(const unsigned char *bytes, size_t count, unsigned side, unsigned char **thumbnail);

/// The same for PNG.
size_t bare_png(const unsigned char *bytes, size_t count, unsigned side, unsigned char **thumbnail);

#endif
