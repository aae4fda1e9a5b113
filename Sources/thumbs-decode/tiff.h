// An open TIFF image, and the functions that its header and its pixels share.

#ifndef TIFF_H
#define TIFF_H

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

/// Returns the largest block of memory for an image, in bytes.
uint64_t block_limit(const Limits *limits);

/// An open image.
typedef struct TIFFImage {
  TIFFMemory memory;
  TIFF *tiff;
  /// False if the file has fewer pages than are wanted.
  bool hasPage;
  /// libtiff's conversion to RGBA. Its fields describe the samples, also those that it does not convert.
  TIFFRGBAImage reader;
  bool hasReader;
  /// True if the samples are floating-point numbers, and if these are linear light.
  bool isFloat, isLinear;
  /// True if the samples are the channels of the pixels, so that nothing converts them.
  bool hasPlainSamples;
  uint32_t channels;
  /// True if the colors are multiplied by alpha.
  bool isPremultiplied;
} TIFFImage;

bool is_gray(const TIFFImage *self);

/// Returns the channels of a pixel without alpha.
uint32_t color_count(const TIFFImage *self);

/// Returns true if strips and tiles have gray or RGB samples of 8, 12 or 16 bits, floating-point ones of 16 or 32, or
/// CMYK ones of 16.
bool has_plain_samples(const TIFFImage *self);

/// Decodes the strips or tiles themselves until all rows are complete, or one fails. Returns false if there is no
/// memory.
bool decode_samples(const TIFFImage *self, Target *target);

/// Does the same with libtiff's conversion to RGBA, which knows all kinds of colors.
bool decode_raster(TIFFImage *self, Target *target);

#endif
