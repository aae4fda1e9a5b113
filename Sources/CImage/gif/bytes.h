// The bytes of a GIF file that is being written.

#ifndef CIMAGE_GIF_BYTES_H
#define CIMAGE_GIF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A file that grows.
typedef struct GIFBytes {
  uint8_t *bytes;
  size_t count, capacity;
  /// True if memory ran out. The file is incomplete then.
  bool hasFailed;
} GIFBytes;

/// Appends bytes.
void cimage_gif_put(GIFBytes *file, const void *bytes, size_t count);

/// Appends one byte.
void cimage_gif_put_byte(GIFBytes *file, int32_t byte);

/// Appends a number of 16 bits, the low byte first.
void cimage_gif_put_short(GIFBytes *file, int32_t number);

/// Appends the code size and the compressed data of a frame. Each index has at most `bits` bits, 1 to 8.
void cimage_gif_put_data(GIFBytes *file, const uint8_t *indices, size_t count, int32_t bits);

#endif
