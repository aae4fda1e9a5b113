// Decodes the pixels of TIFF images: gray and RGB samples of 8 or 16 bits as they are, those of 12 bits, floating-point
// ones and CMYK of 16 bits by conversions of this file, and others by that of libtiff.

#if __has_include(<tiffio.h>)

#include "light.h"
#include "tiff.h"

#include <stdlib.h>
#include <string.h>

// MARK: Blocks

/// The blocks of an image.
typedef struct Blocks {
  const TIFFImage *image;
  bool isTiled;
  /// The size of a block in pixels. The last strip may have fewer rows.
  uint32_t width, height;
  /// The samples of a pixel in a block: 1 if each channel has separate blocks.
  uint32_t samples;
  /// The bits of a sample, and its bytes unless it has 12 bits.
  uint32_t bits, depth;
} Blocks;

/// The largest number of samples of a pixel. Images with more are rare, and would need more memory than `block_limit`
/// allows.
enum { maxSamples = 4 };

/// Returns the rows that libtiff decodes at once: those of a strip or a tile, because it starts each at its first row.
static uint32_t band_rows(const TIFFImage *self) {
  uint32_t rows = 0;
  TIFFGetFieldDefaulted(self->tiff, TIFFIsTiled(self->tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
  return rows == 0 || rows > self->reader.height ? self->reader.height : rows;
}

static Blocks blocks_of(const TIFFImage *self) {
  const TIFFRGBAImage *reader = &self->reader;
  Blocks blocks = {.image = self, .isTiled = TIFFIsTiled(self->tiff), .width = reader->width};
  blocks.height = band_rows(self);
  blocks.samples = reader->isContig ? reader->samplesperpixel : 1;
  blocks.bits = reader->bitspersample;
  blocks.depth = reader->bitspersample / 8;
  if (!blocks.isTiled) return blocks;
  TIFFGetField(self->tiff, TIFFTAG_TILEWIDTH, &blocks.width);
  TIFFGetField(self->tiff, TIFFTAG_TILELENGTH, &blocks.height);
  return blocks;
}

/// Returns the bytes of a row of a block.
static size_t row_bytes(const Blocks *blocks) {
  return ((size_t)blocks->width * blocks->samples * blocks->bits + 7) / 8;
}

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

/// Returns true for the sizes of samples of this kind.
static bool has_known_size(const TIFFImage *self) {
  uint16_t bits = self->reader.bitspersample, compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_COMPRESSION, &compression);
  if (self->isFloat) return bits == 16 || bits == 32;
  return bits == 8 || bits == 16 || (bits == 12 && compression != COMPRESSION_JPEG);
}

/// Returns true for inks of 16 bits. libtiff converts those of 8 bits.
static bool has_deep_inks(const TIFFImage *self) {
  uint16_t inks = INKSET_CMYK;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_INKSET, &inks);
  const TIFFRGBAImage *reader = &self->reader;
  return reader->photometric == PHOTOMETRIC_SEPARATED && inks == INKSET_CMYK && reader->samplesperpixel == 4 &&
         reader->bitspersample == 16 && !self->isFloat;
}

bool has_plain_samples(const TIFFImage *self) {
  const TIFFRGBAImage *reader = &self->reader;
  bool hasKnownColors = is_gray(self) || reader->photometric == PHOTOMETRIC_RGB || has_deep_inks(self);
  if (!has_known_size(self) || !hasKnownColors) return false;
  if (reader->samplesperpixel < color_count(self) || reader->samplesperpixel > maxSamples) return false;
  Blocks blocks = blocks_of(self);
  return have_expected_size(&blocks);
}

/// Returns true if the file has as many bytes as an uncompressed block needs, and declares them.
static bool is_whole(const TIFFImage *self, uint32_t index, uint64_t size) {
  uint64_t offset = TIFFGetStrileOffset(self->tiff, index), count = self->memory.source.count;
  return TIFFGetStrileByteCount(self->tiff, index) >= size && size <= count && offset <= count - size;
}

/// Decodes the block that begins at a pixel, `rows` of it if it is a strip. `plane` is its channel if each channel has
/// separate blocks.
static bool read_block(const Blocks *blocks, uint32_t x, uint32_t y, uint32_t rows, uint32_t plane, uint8_t *bytes) {
  TIFF *tiff = blocks->image->tiff;
  uint16_t sample = (uint16_t)plane;
  uint32_t index = blocks->isTiled ? TIFFComputeTile(tiff, x, y, 0, sample) : TIFFComputeStrip(tiff, y, sample);
  tmsize_t size = (tmsize_t)(row_bytes(blocks) * rows);
  // With a size, libtiff reads an uncompressed block without a buffer, but reads that many bytes in any case.
  tmsize_t limit = is_whole(blocks->image, index, (uint64_t)size) ? size : -1;
  if (blocks->isTiled) return TIFFReadEncodedTile(tiff, index, bytes, limit) == size;
  return TIFFReadEncodedStrip(tiff, index, bytes, limit) == size;
}

// MARK: Samples

// This is faster than libtiff's conversion to RGBA, which makes four bytes of each pixel. Most files have the samples
// as they are needed; then libtiff decodes each strip into its place.

/// Copies samples as levels of 8 bits. Two are `step` samples apart, and become `stride` bytes apart.
static void copy_samples(
    const uint8_t *samples, uint32_t depth, uint32_t step, uint8_t *levels, uint32_t stride, size_t count) {
  if (depth == 2) {
    const uint16_t *wide = (const uint16_t *)(const void *)samples;
    // The nearest level: the sample divided by 257, rounded.
    for (size_t i = 0; i < count; i++) levels[i * stride] = (uint8_t)((wide[i * step] * 255u + 32895) >> 16);
  } else if (step == 1 && stride == 1) {
    memcpy(levels, samples, count);
  } else {
    for (size_t i = 0; i < count; i++) levels[i * stride] = samples[i * step];
  }
}

/// Converts a number of 16 bits (IEEE 754).
static float wide_float(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (bits >> 15) return 0;
  if (exponent == 0) return ldexpf((float)fraction, -24);
  // Infinity, and what is not a number.
  if (exponent == 31) return fraction == 0 ? INFINITY : NAN;
  return ldexpf((float)(fraction + 1024), exponent - 25);
}

static float float_at(const uint8_t *sample, uint32_t depth) {
  uint16_t bits = 0;
  float number = 0;
  if (depth == sizeof number) {
    memcpy(&number, sample, sizeof number);
    return number;
  }
  memcpy(&bits, sample, sizeof bits);
  return wide_float(bits);
}

/// Returns the level of 8 bits for a number, which is clamped to 0...1. Linear light gets the curve of sRGB.
static uint8_t float_level(float number, bool isLinear) {
  // Also for what is not a number.
  if (!(number > 0)) return 0;
  if (number >= 1) return 255;
  if (isLinear) number = (float)sample_of_light(number);
  return (uint8_t)(number * 255 + 0.5f);
}

/// Converts a pixel of floating-point samples. Colors are divided by alpha before they get the curve.
static void copy_float_pixel(const TIFFImage *image, const uint8_t *samples, uint32_t depth, uint8_t *pixel) {
  uint32_t colors = color_count(image), channels = image->channels;
  float alpha = channels > colors ? float_at(samples + colors * depth, depth) : 1;
  for (uint32_t channel = 0; channel < channels; channel++) {
    float number = float_at(samples + channel * depth, depth);
    bool isColor = channel < colors;
    if (image->isPremultiplied && isColor && channels > colors) number = alpha > 0 ? number / alpha : 0;
    pixel[channel] = float_level(number, image->isLinear && isColor);
  }
}

/// Does the same as `copy_row` with floating-point samples.
static void copy_float_row(
    const Blocks *blocks, const uint8_t *samples, uint32_t plane, uint8_t *pixels, uint32_t channels, size_t width) {
  const TIFFImage *image = blocks->image;
  bool isLinear = image->isLinear && plane < color_count(image);
  for (size_t i = 0; i < width; i++) {
    const uint8_t *first = samples + i * blocks->samples * blocks->depth;
    if (image->reader.isContig) {
      copy_float_pixel(image, first, blocks->depth, pixels + i * channels);
    } else {
      pixels[i * channels + plane] = float_level(float_at(first, blocks->depth), isLinear);
    }
  }
}

/// Does the same with samples of 12 bits, two of which have three bytes (TIFF 6.0, section 3).
static void copy_narrow_row(
    const Blocks *blocks, const uint8_t *samples, uint32_t plane, uint8_t *pixels, uint32_t channels, size_t width) {
  uint32_t first = blocks->image->reader.isContig ? 0 : plane, count = blocks->image->reader.isContig ? channels : 1;
  for (size_t i = 0; i < width; i++) {
    for (uint32_t channel = 0; channel < count; channel++) {
      size_t index = i * blocks->samples + channel;
      const uint8_t *pair = samples + index / 2 * 3;
      uint32_t sample = index % 2 == 0 ? pair[0] << 4 | pair[1] >> 4 : (pair[1] & 15u) << 8 | pair[2];
      pixels[i * channels + first + channel] = (uint8_t)((sample * 255 + 2047) / 4095);
    }
  }
}

/// Converts inks of 16 bits to red, green and blue, as if they were ideal.
static void copy_ink_row(const uint8_t *samples, uint8_t *pixels, size_t width) {
  const uint16_t *inks = (const uint16_t *)(const void *)samples;
  for (size_t i = 0; i < width; i++) {
    for (uint32_t channel = 0; channel < 3; channel++) {
      uint64_t light = (uint64_t)(65535 - inks[i * 4 + channel]) * (65535 - inks[i * 4 + 3]);
      pixels[i * 3 + channel] = (uint8_t)((light * 255 + UINT64_C(65535) * 65535 / 2) / (UINT64_C(65535) * 65535));
    }
  }
}

/// Copies the row of a block. `plane` is its channel if each channel has separate blocks.
static void copy_row(
    const Blocks *blocks, const uint8_t *samples, uint32_t plane, uint8_t *pixels, uint32_t channels, size_t width) {
  if (blocks->image->isFloat) {
    copy_float_row(blocks, samples, plane, pixels, channels, width);
  } else if (blocks->bits == 12) {
    copy_narrow_row(blocks, samples, plane, pixels, channels, width);
  } else if (blocks->image->reader.photometric == PHOTOMETRIC_SEPARATED) {
    copy_ink_row(samples, pixels, width);
  } else if (blocks->samples == channels) {
    copy_samples(samples, blocks->depth, 1, pixels, 1, width * channels);
  } else if (!blocks->image->reader.isContig) {
    copy_samples(samples, blocks->depth, 1, pixels + plane, channels, width);
  } else {
    for (uint32_t channel = 0; channel < channels; channel++) {
      const uint8_t *first = samples + channel * blocks->depth;
      copy_samples(first, blocks->depth, blocks->samples, pixels + channel, channels, width);
    }
  }
}

/// Copies the part of a block that is inside the image.
static void copy_block(
    const Blocks *blocks, const uint8_t *samples, uint32_t x, uint32_t rows, uint32_t plane, Target *target) {
  uint32_t left = target->width - x, width = left < blocks->width ? left : blocks->width;
  for (uint32_t row = 0; row < rows; row++) {
    uint8_t *pixels = target->pixels + ((size_t)(target->rowCount + row) * target->width + x) * target->channels;
    copy_row(blocks, samples + row * row_bytes(blocks), plane, pixels, target->channels, width);
  }
}

/// Decodes the blocks of some rows, into `buffer` unless that is NULL.
static bool decode_band(const Blocks *blocks, uint32_t rows, uint8_t *buffer, Target *target) {
  uint32_t y = target->rowCount, planes = blocks->image->reader.isContig ? 1 : target->channels;
  uint8_t *pixels = target->pixels + (size_t)y * target->width * target->channels;
  if (buffer == NULL) return read_block(blocks, 0, y, rows, 0, pixels);
  for (uint32_t plane = 0; plane < planes; plane++) {
    for (uint64_t x = 0; x < target->width; x += blocks->width) {
      if (!read_block(blocks, (uint32_t)x, y, blocks->isTiled ? blocks->height : rows, plane, buffer)) return false;
      copy_block(blocks, buffer, (uint32_t)x, rows, plane, target);
    }
  }
  return true;
}

/// Inverts the levels of rows that count from white.
static void invert(Target *target, uint32_t rows) {
  size_t rowBytes = (size_t)target->width * target->channels;
  uint8_t *levels = target->pixels + target->rowCount * rowBytes;
  for (size_t i = 0; i < rows * rowBytes; i += target->channels) levels[i] = 255 - levels[i];
}

bool decode_samples(const TIFFImage *self, Target *target) {
  Blocks blocks = blocks_of(self);
  bool isInPlace = !blocks.isTiled && blocks.bits == 8 && blocks.samples == target->channels;
  uint8_t *buffer = isInPlace ? NULL : malloc(row_bytes(&blocks) * blocks.height);
  if (!isInPlace && buffer == NULL) return false;
  while (target->rowCount < target->height) {
    uint32_t left = target->height - target->rowCount, rows = left < blocks.height ? left : blocks.height;
    if (!decode_band(&blocks, rows, buffer, target)) break;
    if (self->reader.photometric == PHOTOMETRIC_MINISWHITE) invert(target, rows);
    target->rowCount += rows;
  }
  free(buffer);
  return true;
}

// MARK: Conversion to RGBA

/// Returns true if the pixels of the target are what libtiff writes: numbers whose lowest byte is red.
static bool is_raster(const Target *target) {
  const uint32_t one = 1;
  return target->channels == 4 && (uintptr_t)target->pixels % _Alignof(uint32_t) == 0 && *(const uint8_t *)&one == 1;
}

static void copy_pixels(const uint32_t *raster, size_t count, uint32_t channels, uint8_t *pixels) {
  for (const uint32_t *pixel = raster; pixel != raster + count; pixel++) {
    *pixels++ = (uint8_t)TIFFGetR(*pixel);
    if (channels >= 3) *pixels++ = (uint8_t)TIFFGetG(*pixel);
    if (channels >= 3) *pixels++ = (uint8_t)TIFFGetB(*pixel);
    if (channels == 4) *pixels++ = (uint8_t)TIFFGetA(*pixel);
  }
}

/// Decodes bands. `raster` has room for one; if it is NULL, libtiff writes to the target.
static void decode_bands(TIFFImage *self, Target *target, uint32_t *raster, uint32_t bandRows) {
  size_t rowBytes = (size_t)target->width * target->channels;
  while (target->rowCount < target->height) {
    uint8_t *pixels = target->pixels + target->rowCount * rowBytes;
    uint32_t left = target->height - target->rowCount;
    uint32_t rows = left < bandRows ? left : bandRows;
    self->reader.row_offset = (int)target->rowCount;
    if (!TIFFRGBAImageGet(&self->reader, raster != NULL ? raster : (uint32_t *)(void *)pixels, target->width, rows)) {
      return;
    }
    if (raster != NULL) copy_pixels(raster, (size_t)target->width * rows, target->channels, pixels);
    target->rowCount += rows;
  }
}

bool decode_raster(TIFFImage *self, Target *target) {
  uint32_t bandRows = band_rows(self), *raster = NULL;
  if (!is_raster(target)) {
    raster = malloc((size_t)target->width * bandRows * sizeof *raster);
    if (raster == NULL) return false;
  }
  decode_bands(self, target, raster, bandRows);
  free(raster);
  return true;
}

#endif
