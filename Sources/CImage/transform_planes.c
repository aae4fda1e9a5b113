#include <stdbool.h>
#include <stdlib.h>

#include "CImage.h"
#include "icc.h"
#include "simd.h"

// Luma and chroma are those of JFIF 1.02, page 3, with 16 fractional bits.

static inline uint8_t clamped(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

static uint8_t *row_of(CImageBitmap bitmap, int32_t y) { return bitmap.pixels + (size_t)y * bitmap.stride; }

/// A row of pixels with separate channels, so that vectors of them are converted.
typedef struct Row {
  uint8_t *colors[3];
} Row;

/// Repeats each sample of `chroma`.
static void widen(const uint8_t *restrict chroma, uint8_t *restrict wide, int32_t width) {
  for (int32_t x = 0; x < width / 2; x++) wide[2 * x] = wide[2 * x + 1] = chroma[x];
  if (width % 2 == 1) wide[width - 1] = chroma[width / 2];
}

/// Converts a row to RGB.
WITH_AVX2 static void mix(const uint8_t *restrict luma, const uint8_t *restrict blue, const uint8_t *restrict red,
                          Row row, int32_t width) {
  uint8_t *restrict r = row.colors[0], *restrict g = row.colors[1], *restrict b = row.colors[2];
  for (int32_t x = 0; x < width; x++) {
    int32_t base = luma[x] * 65536 + 32768, u = blue[x] - 128, v = red[x] - 128;
    r[x] = clamped((base + 91881 * v) >> 16);
    g[x] = clamped((base - 22554 * u - 46802 * v) >> 16);
    b[x] = clamped((base + 116130 * u) >> 16);
  }
}

WITH_AVX2 static void store_luma(Row row, uint8_t *restrict luma, int32_t width) {
  const uint8_t *restrict r = row.colors[0], *restrict g = row.colors[1], *restrict b = row.colors[2];
  for (int32_t x = 0; x < width; x++) luma[x] = (uint8_t)((19595 * r[x] + 38470 * g[x] + 7471 * b[x] + 32768) >> 16);
}

/// Replaces the first half of `upper` by the means of squares of both rows. At the edge, the last column counts twice.
static void halve(const uint8_t *lower, uint8_t *upper, int32_t width) {
  for (int32_t x = 0; x < (width + 1) / 2; x++) {
    int32_t left = 2 * x, right = left + 1 < width ? left + 1 : left;
    upper[x] = (uint8_t)((upper[left] + upper[right] + lower[left] + lower[right] + 2) >> 2);
  }
}

WITH_AVX2 static void store_chroma(Row row, uint8_t *restrict blue, uint8_t *restrict red, int32_t width) {
  const uint8_t *restrict r = row.colors[0], *restrict g = row.colors[1], *restrict b = row.colors[2];
  for (int32_t x = 0; x < width; x++) {
    blue[x] = clamped((32768 * b[x] - 11059 * r[x] - 21709 * g[x] + (128 << 16) + 32768) >> 16);
    red[x] = clamped((32768 * r[x] - 27439 * g[x] - 5329 * b[x] + (128 << 16) + 32768) >> 16);
  }
}

/// Converts one row of luma, of which `blue` and `red` are the chroma. Leaves its pixels in `row`.
static void transform_row(const CImageTransform *self, uint8_t *luma, const uint8_t *blue, const uint8_t *red, Row row,
                          int32_t width) {
  mix(luma, blue, red, row, width);
  cimage_transform_channels(self, row.colors, (size_t)width);
  store_luma(row, luma, width);
}

static void transform_full(const CImageTransform *self, const CImageBitmap planes[3], uint8_t *room) {
  int32_t width = planes[0].width;
  Row row = {{room, room + width, room + 2 * width}};
  for (int32_t y = 0; y < planes[0].height; y++) {
    uint8_t *blue = row_of(planes[1], y), *red = row_of(planes[2], y);
    transform_row(self, row_of(planes[0], y), blue, red, row, width);
    store_chroma(row, blue, red, width);
  }
}

static void transform_half(const CImageTransform *self, const CImageBitmap planes[3], uint8_t *room) {
  int32_t width = planes[0].width, last = planes[0].height - 1;
  Row upper = {{room, room + width, room + 2 * width}};
  Row lower = {{room + 3 * width, room + 4 * width, room + 5 * width}};
  uint8_t *wideBlue = room + 6 * width, *wideRed = room + 7 * width;
  for (int32_t y = 0; y < planes[1].height; y++) {
    uint8_t *blue = row_of(planes[1], y), *red = row_of(planes[2], y);
    widen(blue, wideBlue, width);
    widen(red, wideRed, width);
    transform_row(self, row_of(planes[0], 2 * y), wideBlue, wideRed, upper, width);
    bool isPair = 2 * y < last;
    if (isPair) transform_row(self, row_of(planes[0], 2 * y + 1), wideBlue, wideRed, lower, width);
    for (int i = 0; i < 3; i++) halve((isPair ? lower : upper).colors[i], upper.colors[i], width);
    store_chroma(upper, blue, red, planes[1].width);
  }
}

CImageStatus cimage_transform_apply_planes(const CImageTransform *self, const CImageBitmap planes[3]) {
  bool isHalf = planes[1].width < planes[0].width || planes[1].height < planes[0].height;
  uint8_t *room = malloc(8 * (size_t)planes[0].width);
  if (room == NULL) return CImageStatusOutOfMemory;
  if (isHalf) {
    transform_half(self, planes, room);
  } else {
    transform_full(self, planes, room);
  }
  free(room);
  return CImageStatusOK;
}
