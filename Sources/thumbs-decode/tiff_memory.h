// Lets libtiff read a file in memory, and receives its messages.

#ifndef TIFF_MEMORY_H
#define TIFF_MEMORY_H

#include <tiffio.h>

#include <CDecoder.h>

/// A TIFF file in memory.
typedef struct TIFFMemory {
  Source source;
  uint64_t position;
  /// True if libtiff wanted bytes behind the end.
  bool isShort;
  /// Gets the warnings, and the first error.
  DecodeText *text;
} TIFFMemory;

/// Opens the file and reads its first directory. Returns NULL if that fails. With the mode `rm`, libtiff calls
/// functions to read, which see if bytes are missing; with `r`, it may read them in place.
TIFF *open_memory(TIFFMemory *memory, const char *mode);

/// Returns the largest block of memory for an image, in bytes.
uint64_t block_limit(const Limits *limits);

/// Returns the status for the error that libtiff has reported. If `tiff` is not NULL, decoding its strips or tiles has
/// failed.
DecodeStatus explain(const TIFFMemory *memory, TIFF *tiff);

#endif
