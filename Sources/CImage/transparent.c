// The colors of transparent pixels.

#include <string.h>

#include "CImage.h"

enum { channels = 4, colors = 3 };

static void fill_row(uint8_t *row, int32_t width, int32_t first) {
  for (int32_t x = 0; x < first; x++) memcpy(row + (size_t)x * channels, row + (size_t)first * channels, colors);
  for (int32_t x = first + 1; x < width; x++) {
    uint8_t *pixel = row + (size_t)x * channels;
    if (pixel[colors] == 0) memcpy(pixel, pixel - channels, colors);
  }
}

/// Returns the index of the first visible pixel of a row, or the width if all pixels are transparent.
static int32_t first_visible(const uint8_t *row, int32_t width) {
  int32_t x = 0;
  while (x < width && row[(size_t)x * channels + colors] == 0) x++;
  return x;
}

static void copy_colors(uint8_t *to, const uint8_t *from, int32_t width) {
  for (size_t x = 0; x < (size_t)width; x++) memcpy(to + x * channels, from + x * channels, colors);
}

void cimage_fill_transparent(CImageBitmap bitmap) {
  int32_t filled = -1;
  for (int32_t y = 0; y < bitmap.height; y++) {
    uint8_t *row = bitmap.pixels + (size_t)y * bitmap.stride;
    int32_t first = first_visible(row, bitmap.width);
    if (first < bitmap.width) {
      fill_row(row, bitmap.width, first);
      // The rows above the first visible one.
      for (int32_t above = 0; filled < 0 && above < y; above++) {
        copy_colors(bitmap.pixels + (size_t)above * bitmap.stride, row, bitmap.width);
      }
      filled = y;
    } else if (filled >= 0) {
      copy_colors(row, row - bitmap.stride, bitmap.width);
    }
  }
  // Nothing is visible.
  for (int32_t y = 0; filled < 0 && y < bitmap.height; y++) {
    memset(bitmap.pixels + (size_t)y * bitmap.stride, 0, (size_t)bitmap.width * channels);
  }
}
