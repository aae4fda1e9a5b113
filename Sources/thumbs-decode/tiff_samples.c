// Decodes TIFF images whose samples are the channels of their pixels: gray and RGB with 8 or 16 bits.
//
// This is faster than libtiff's conversion to RGBA, which makes four bytes of each pixel. Most files have the samples
// as they are needed; then libtiff decodes each strip into its place.

#if __has_include(<tiffio.h>)

#include <stdlib.h>
#include <string.h>

#include "tiff_blocks.h"

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

/// Copies the row of a block. `plane` is its channel if each channel has separate blocks.
static void copy_row(
    const Blocks *blocks, const uint8_t *samples, uint32_t plane, uint8_t *pixels, uint32_t channels, size_t width) {
  if (blocks->samples == channels) {
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
  bool isInPlace = !blocks.isTiled && blocks.depth == 1 && blocks.samples == target->channels;
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

#endif
