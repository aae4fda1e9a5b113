// An open TIFF image, and the two ways to its pixels.

#ifndef TIFF_IMAGE_H
#define TIFF_IMAGE_H

#include "tiff_memory.h"

typedef struct TIFFImage {
  TIFFMemory memory;
  TIFF *tiff;
  /// libtiff's conversion to RGBA. Its fields describe the samples.
  TIFFRGBAImage reader;
  bool hasReader;
  /// True if the samples are the channels of the pixels, so that nothing converts them.
  bool hasPlainSamples;
  uint32_t channels;
  /// True if the colors are multiplied by alpha.
  bool isPremultiplied;
} TIFFImage;

/// Reads what the header declares, and decides how to decode the pixels.
DecodeStatus read_tiff_header(TIFFImage *self, DecodeHeader *header, DecodeText *text);

/// Returns the size of the ICC profile that fits the pixels, or 0. Sets `bytes`.
uint32_t find_tiff_profile(const TIFFImage *self, const void **bytes, DecodeText *text);

bool is_gray(const TIFFImage *self);

/// Returns the channels of a pixel without alpha.
uint32_t color_count(const TIFFImage *self);

/// Returns the rows that libtiff decodes at once: those of a strip or a tile, because it starts each at its first row.
uint32_t band_rows(const TIFFImage *self);

/// Returns true if strips and tiles have gray or RGB samples of 8 or 16 bits.
bool has_plain_samples(const TIFFImage *self);

/// Decodes the strips or tiles themselves until all rows are complete, or one fails. Returns false if there is no
/// memory.
bool decode_samples(const TIFFImage *self, Target *target);

/// Does the same with libtiff's conversion to RGBA, which knows all kinds of colors.
bool decode_raster(TIFFImage *self, Target *target);

#endif
