// Reads a JPEG image as luma and, unless it is gray, two chroma planes, as the file stores it.

#ifndef CIMAGE_JPEG_PLANES_H
#define CIMAGE_JPEG_PLANES_H

#include "error.h"

/// The state of reading the planes of one file. A strip is one row of MCUs, the interleaved blocks of all planes.
typedef struct PlaneReader {
  /// 1 or 3.
  int planeCount;
  CImagePlane planes[3];
  /// The part of each plane that is needed.
  CImageArea needed[3];
  /// The rows of each plane in the strip that was read last, without padding. It has none if none is needed; then their
  /// number is in `skipped`.
  CImageBitmap strips[3];
  int32_t skipped[3];
  /// The number of rows of a strip in memory. Rows have whole MCUs.
  size_t stripRows[3];
  /// The number of strips so far.
  size_t count;
} PlaneReader;

/// Prepares reading the planes. Returns the number of bytes of a strip.
size_t cimage_plane_reader_init(PlaneReader *reader, j_decompress_ptr cinfo, CImageJPEGDecoding options);

/// Begins the next strip, whose samples go to `memory`. The caller decodes it, or calls `cimage_plane_reader_read`.
void cimage_plane_reader_advance(PlaneReader *reader, j_decompress_ptr cinfo, uint8_t *memory);

/// Decodes the strip that was begun.
void cimage_plane_reader_read(const PlaneReader *reader, j_decompress_ptr cinfo);

#endif
