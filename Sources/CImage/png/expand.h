// Converts rows of a PNG file to 8-bit samples with the channels of a bitmap.

#ifndef CIMAGE_PNG_EXPAND_H
#define CIMAGE_PNG_EXPAND_H

#include <stdbool.h>

#include "CImage.h"
#include <png.h>

/// The conversion of the rows of one file.
typedef struct Expansion {
  /// The number of pixels of a row, of bits per pixel in the file, and of channels of the result.
  int32_t width;
  int bits, channels;
  /// True if the rows are samples of the result already.
  bool isIdentity;
  /// True if each pixel is a number that `table` converts: gray or the index of a color.
  bool isLookup;
  uint8_t table[256][4];
  /// The color that is transparent, if one is, of a file with red, green and blue.
  uint8_t transparent[3];
  bool hasTransparent;
} Expansion;

/// Prepares the conversion of the rows of a file with at most 8 bits per sample, whose header `png_read_info` has read.
/// The result has the channels of the file, or one more for alpha.
void cimage_expansion_init(Expansion *expansion, png_structp png, png_infop info, int channels);

/// Converts a row, unless the conversion is the identity.
void cimage_expand_row(const Expansion *expansion, const uint8_t *row, uint8_t *out);

#endif
