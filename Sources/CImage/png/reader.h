// Reads a PNG file in memory with libpng, within limits.

#ifndef CIMAGE_PNG_READER_H
#define CIMAGE_PNG_READER_H

#include <stdbool.h>

#include "error.h"

/// The state of reading one file. Lives in the frame above the one that calls setjmp.
typedef struct PNGReader {
  PNGErrors errors;
  png_structp png;
  png_infop info;
  /// The bytes that are not read yet.
  const uint8_t *next;
  size_t left;
  /// The beginning of the chunk that follows the one that libpng reads; NULL if it is not in the file.
  const uint8_t *chunk;
  /// The number of bytes that may still be read. If more are needed, `isComplete` becomes true and reading fails.
  size_t budget;
  /// True if all rows are read. Later errors do not affect the image.
  bool isComplete;
  /// True if the file is one of an iOS package: the chunk `CgBI` precedes the header, the image data lacks the header
  /// and the checksum of zlib, and the pixels are blue, green, red and premultiplied alpha. Apple documents none of it.
  bool isApple;
} PNGReader;

/// Prepares reading a file. Returns false if memory runs out. The caller closes the reader.
bool cimage_png_open(PNGReader *reader, const uint8_t *bytes, size_t count, CImageMessages *messages);

/// Reads all chunks before the image data of a file of at most this size. The caller has set `errors.jump`, to which
/// this and all later calls of libpng jump if they fail.
void cimage_png_read_header(PNGReader *reader, int32_t width, int32_t height);

/// Returns true if the last chunk is that of a complete file.
bool cimage_png_has_end(const PNGReader *reader);

/// Frees everything.
void cimage_png_close(PNGReader *reader);

#endif
