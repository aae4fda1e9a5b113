// The strips or tiles of a TIFF image, both called blocks.

#ifndef TIFF_BLOCKS_H
#define TIFF_BLOCKS_H

#include "tiff_image.h"

/// The blocks of an image.
typedef struct Blocks {
  const TIFFImage *image;
  bool isTiled;
  /// The size of a block in pixels. The last strip may have fewer rows.
  uint32_t width, height;
  /// The samples of a pixel in a block: 1 if each channel has separate blocks.
  uint32_t samples;
  /// The bytes of a sample.
  uint32_t depth;
} Blocks;

Blocks blocks_of(const TIFFImage *self);

/// Returns the bytes of a row of a block.
size_t row_bytes(const Blocks *blocks);

/// Decodes the block that begins at a pixel, `rows` of it if it is a strip. `plane` is its channel if each channel has
/// separate blocks.
bool read_block(const Blocks *blocks, uint32_t x, uint32_t y, uint32_t rows, uint32_t plane, uint8_t *bytes);

#endif
