// Reads the strips and tiles of TIFF images whose samples need no conversion.

#if __has_include(<tiffio.h>)

#include "tiff_blocks.h"

/// The largest number of samples of a pixel. Images with more are rare, and would need more memory than `block_limit`
/// allows.
enum { maxSamples = 4 };

Blocks blocks_of(const TIFFImage *self) {
  const TIFFRGBAImage *reader = &self->reader;
  Blocks blocks = {.image = self, .isTiled = TIFFIsTiled(self->tiff), .width = reader->width};
  blocks.height = band_rows(self);
  blocks.samples = reader->isContig ? reader->samplesperpixel : 1;
  blocks.depth = reader->bitspersample / 8;
  if (!blocks.isTiled) return blocks;
  TIFFGetField(self->tiff, TIFFTAG_TILEWIDTH, &blocks.width);
  TIFFGetField(self->tiff, TIFFTAG_TILELENGTH, &blocks.height);
  return blocks;
}

size_t row_bytes(const Blocks *blocks) { return (size_t)blocks->width * blocks->samples * blocks->depth; }

/// Returns true if libtiff's blocks have this size, and their memory is within the limit for a block. That excludes
/// subsampled colors.
static bool have_expected_size(const Blocks *blocks) {
  TIFF *tiff = blocks->image->tiff;
  uint64_t row = row_bytes(blocks), size = 0;
  if (row == 0 || __builtin_mul_overflow(row, blocks->height, &size)) return false;
  if (size == 0 || size > block_limit(&blocks->image->memory.source.limits)) return false;
  if (blocks->isTiled) return TIFFTileRowSize64(tiff) == row && TIFFTileSize64(tiff) == size;
  return TIFFScanlineSize64(tiff) == row && TIFFVStripSize64(tiff, blocks->height) == size;
}

bool has_plain_samples(const TIFFImage *self) {
  const TIFFRGBAImage *reader = &self->reader;
  bool isWhole = reader->bitspersample == 8 || reader->bitspersample == 16;
  if (!isWhole || !(is_gray(self) || reader->photometric == PHOTOMETRIC_RGB)) return false;
  if (reader->samplesperpixel < color_count(self) || reader->samplesperpixel > maxSamples) return false;
  Blocks blocks = blocks_of(self);
  return have_expected_size(&blocks);
}

/// Returns true if the file has as many bytes as an uncompressed block needs, and declares them.
static bool is_whole(const TIFFImage *self, uint32_t index, uint64_t size) {
  uint64_t offset = TIFFGetStrileOffset(self->tiff, index), count = self->memory.source.count;
  return TIFFGetStrileByteCount(self->tiff, index) >= size && size <= count && offset <= count - size;
}

bool read_block(const Blocks *blocks, uint32_t x, uint32_t y, uint32_t rows, uint32_t plane, uint8_t *bytes) {
  TIFF *tiff = blocks->image->tiff;
  uint16_t sample = (uint16_t)plane;
  uint32_t index = blocks->isTiled ? TIFFComputeTile(tiff, x, y, 0, sample) : TIFFComputeStrip(tiff, y, sample);
  tmsize_t size = (tmsize_t)(row_bytes(blocks) * rows);
  // With a size, libtiff reads an uncompressed block without a buffer, but reads that many bytes in any case.
  tmsize_t limit = is_whole(blocks->image, index, (uint64_t)size) ? size : -1;
  if (blocks->isTiled) return TIFFReadEncodedTile(tiff, index, bytes, limit) == size;
  return TIFFReadEncodedStrip(tiff, index, bytes, limit) == size;
}

#endif
