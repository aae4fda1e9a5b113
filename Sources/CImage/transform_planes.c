#include <stdlib.h>

#include "CImage.h"
#include "icc.h"

// Luma and chroma are those of JFIF 1.02, page 3, with 16 fractional bits.

static inline uint8_t clamped_sample(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

/// Converts one pixel to RGB. `blue` and `red` are chroma, less 128.
static inline void mix_pixel(int32_t luma, int32_t blue, int32_t red, uint8_t *rgb) {
  int32_t base = luma * 65536 + 32768;
  rgb[0] = clamped_sample((base + 91881 * red) >> 16);
  rgb[1] = clamped_sample((base - 22554 * blue - 46802 * red) >> 16);
  rgb[2] = clamped_sample((base + 116130 * blue) >> 16);
}

static inline uint8_t luma_of(const uint8_t *rgb) {
  return (uint8_t)((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16);
}

/// Returns blue chroma of the sums of the colors of four pixels.
static inline uint8_t blue_of(int32_t red, int32_t green, int32_t blue) {
  return clamped_sample((32768 * blue - 11059 * red - 21709 * green + (128 << 18) + (1 << 17)) >> 18);
}

/// Returns red chroma of the sums of the colors of four pixels.
static inline uint8_t red_of(int32_t red, int32_t green, int32_t blue) {
  return clamped_sample((32768 * red - 27439 * green - 5329 * blue + (128 << 18) + (1 << 17)) >> 18);
}

static uint8_t *row_of(CImageBitmap bitmap, int32_t y) { return bitmap.pixels + (size_t)y * bitmap.stride; }

/// Converts a row of luma, and the chroma that covers it, to RGB. A chroma sample covers `step` pixels of the row.
static void mix_row(const CImageBitmap planes[3], int32_t y, int32_t step, uint8_t *rgb) {
  const uint8_t *luma = row_of(planes[0], y);
  const uint8_t *blue = row_of(planes[1], y / step), *red = row_of(planes[2], y / step);
  for (int32_t x = 0; x < planes[0].width; x++, rgb += 3) {
    mix_pixel(luma[x], blue[x / step] - 128, red[x / step] - 128, rgb);
  }
}

static void store_luma(const uint8_t *rgb, uint8_t *luma, int32_t width) {
  for (int32_t x = 0; x < width; x++) luma[x] = luma_of(rgb + 3 * x);
}

/// Stores the chroma of one row: the mean of `step` columns and rows of pixels, or of those that exist at the edge.
static void store_chroma(const CImageBitmap planes[3], int32_t y, const uint8_t *rows, int32_t step, int32_t count) {
  int32_t width = planes[0].width;
  for (int32_t x = 0; x < planes[1].width; x++) {
    int32_t sums[3] = {0}, first = x * step, columns = width - first < step ? width - first : step;
    for (int32_t i = 0; i < count * columns; i++) {
      const uint8_t *pixel = rows + 3 * ((size_t)(i / columns) * (size_t)width + (size_t)(first + i % columns));
      for (int channel = 0; channel < 3; channel++) sums[channel] += pixel[channel];
    }
    for (int channel = 0; channel < 3; channel++) sums[channel] *= 4 / (count * columns);
    row_of(planes[1], y)[x] = blue_of(sums[0], sums[1], sums[2]);
    row_of(planes[2], y)[x] = red_of(sums[0], sums[1], sums[2]);
  }
}

CImageStatus cimage_transform_apply_planes(const CImageTransform *self, const CImageBitmap planes[3]) {
  int32_t width = planes[0].width, height = planes[0].height;
  int32_t step = planes[1].width < width || planes[1].height < height ? 2 : 1;
  size_t stride = 3 * (size_t)width;
  uint8_t *rows = malloc(stride * (size_t)step);
  if (rows == NULL) return CImageStatusOutOfMemory;
  for (int32_t y = 0; y < planes[1].height; y++) {
    int32_t first = y * step, count = height - first < step ? height - first : step;
    for (int32_t i = 0; i < count; i++) {
      uint8_t *row = rows + (size_t)i * stride;
      mix_row(planes, first + i, step, row);
      cimage_transform_row(self, row, row, (size_t)width);
      store_luma(row, row_of(planes[0], first + i), width);
    }
    store_chroma(planes, y, rows, step, count);
  }
  free(rows);
  return CImageStatusOK;
}
