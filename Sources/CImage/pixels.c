// Loops over whole bitmaps: alpha, halving, orientation, drawing.

#include <string.h>

#include "CImage.h"
#include "light.h"
#include "simd.h"

// A product and a sum must not be fused, as processors other than x86-64 can, so that all give the same pixels.
#pragma STDC FP_CONTRACT OFF

static uint8_t *row_of(CImageBitmap bitmap, int32_t y) { return bitmap.pixels + (size_t)y * bitmap.stride; }

/// Returns `a * b / 255`, rounded, for `a` and `b` up to 255.
static inline uint8_t multiply(unsigned a, unsigned b) {
  unsigned product = a * b + 128;
  return (uint8_t)((product + (product >> 8)) >> 8);
}

static void premultiply_gray(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < 2 * count; i += 2) pixels[i] = multiply(pixels[i], pixels[i + 1]);
}

/// Like `multiply`, for two samples at once, in the low bytes of the two halves of `pair`.
static inline uint32_t multiply_pair(uint32_t pair, uint32_t alpha) {
  uint32_t product = pair * alpha + 0x00800080;
  return (product + (product >> 8 & 0x00ff00ff)) >> 8 & 0x00ff00ff;
}

/// Multiplies red, green and blue by alpha, a pixel per word, which compilers turn into vectors.
WITH_AVX2 static void premultiply_colors(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t pixel;
    memcpy(&pixel, pixels + 4 * i, sizeof pixel);
    uint32_t alpha = pixel >> 24, even = multiply_pair(pixel & 0x00ff00ff, alpha);
    // 255 times alpha leaves alpha as it is.
    uint32_t odd = multiply_pair((pixel >> 8 & 0xff) | 0x00ff0000, alpha);
    pixel = even | odd << 8;
    memcpy(pixels + 4 * i, &pixel, sizeof pixel);
  }
}

void cimage_premultiply(CImageBitmap bitmap) {
  for (int32_t y = 0; y < bitmap.height; y++) {
    uint8_t *row = row_of(bitmap, y);
    size_t count = (size_t)bitmap.width;
    bitmap.channels == 4 ? premultiply_colors(row, count) : premultiply_gray(row, count);
  }
}

static inline void unpremultiply_pixel(uint8_t *pixel, int colors) {
  unsigned alpha = pixel[colors];
  if (alpha == 255) return;
  for (int i = 0; i < colors; i++) {
    unsigned color = alpha == 0 ? 0 : (pixel[i] * 255 + alpha / 2) / alpha;
    pixel[i] = (uint8_t)(color > 255 ? 255 : color);
  }
}

void cimage_unpremultiply(CImageBitmap bitmap) {
  int channels = bitmap.channels;
  for (int32_t y = 0; y < bitmap.height; y++) {
    uint8_t *pixel = row_of(bitmap, y), *end = pixel + (size_t)bitmap.width * (size_t)channels;
    for (; pixel < end; pixel += channels) unpremultiply_pixel(pixel, channels - 1);
  }
}

WITH_AVX2 static void halve_rows(const uint8_t *upper, const uint8_t *lower, uint8_t *target, int32_t count) {
  for (int32_t x = 0; x < count; x++) {
    int sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
    target[x] = (uint8_t)((sum + 2) >> 2);
  }
}

void cimage_halve(CImageBitmap source, CImageBitmap target) {
  for (int32_t y = 0; y < target.height; y++) {
    const uint8_t *upper = row_of(source, 2 * y);
    halve_rows(upper, upper + source.stride, row_of(target, y), target.width);
  }
}

void cimage_orient(CImageBitmap source, int32_t orientation, CImageBitmap target) {
  // EXIF 2.32, tag 0x0112: the edges at which the first row and the first column of the file are displayed.
  int mirrored = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  int flipped = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  int turned = orientation >= 5;
  size_t channels = (size_t)source.channels;
  for (int32_t y = 0; y < target.height; y++) {
    uint8_t *out = row_of(target, y);
    for (int32_t x = 0; x < target.width; x++, out += channels) {
      int32_t u = mirrored ? target.width - 1 - x : x, v = flipped ? target.height - 1 - y : y;
      const uint8_t *in = row_of(source, turned ? u : v) + (size_t)(turned ? v : u) * channels;
      memcpy(out, in, channels);
    }
  }
}

/// Draws one pixel of `source`, with straight alpha or none, onto one of `target`.
/// `tables` is NULL unless light is mixed.
static inline void draw_pixel(const uint8_t *source, int sourceChannels, uint8_t *target, int targetChannels,
                              const LightTables *tables) {
  int colors = targetChannels >= 3 ? 3 : 1, sourceColors = sourceChannels >= 3 ? 3 : 1;
  unsigned alpha = sourceChannels > sourceColors ? source[sourceColors] : 255;
  // A canvas with alpha is overwritten; an opaque one shows through.
  unsigned weight = targetChannels > colors ? 255 : alpha;
  if (targetChannels > colors) target[colors] = (uint8_t)alpha;
  for (int i = 0; i < colors; i++) {
    unsigned sample = source[sourceColors == 1 ? 0 : i];
    if (tables != NULL && weight > 0 && weight < 255) {
      float share = (float)weight / 255;
      target[i] = sample_of_light(tables, tables->lights[sample] * share + tables->lights[target[i]] * (1 - share));
    } else {
      target[i] = (uint8_t)((sample * weight + target[i] * (255 - weight) + 127) / 255);
    }
  }
}

void cimage_draw(CImageBitmap source, CImageBitmap target, int32_t left, int32_t top, CImageLight light) {
  const LightTables *tables = light == CImageLightLinear ? cimage_light_tables() : NULL;
  for (int32_t y = 0; y < source.height; y++) {
    const uint8_t *in = row_of(source, y);
    uint8_t *out = row_of(target, top + y) + (size_t)left * (size_t)target.channels;
    for (int32_t x = 0; x < source.width; x++, in += source.channels, out += target.channels) {
      draw_pixel(in, source.channels, out, target.channels, tables);
    }
  }
}

void cimage_fill(CImageBitmap bitmap, const uint8_t *sample) {
  size_t channels = (size_t)bitmap.channels;
  for (int32_t y = 0; y < bitmap.height; y++) {
    uint8_t *out = row_of(bitmap, y);
    for (int32_t x = 0; x < bitmap.width; x++, out += channels) memcpy(out, sample, channels);
  }
}
