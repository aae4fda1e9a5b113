#include "palette.h"

#include <stdlib.h>
#include <string.h>

/// Returns the slot of `color`, or the free slot to insert it into.
static unsigned slot_of(const Palette *palette, uint32_t color) {
  unsigned slot = color * 2654435761u >> 22;  // The top 10 bits of Knuth's multiplicative hash.
  while (palette->slotNumbers[slot] != 0 && palette->slotColors[slot] != color) slot = (slot + 1) % colorSlots;
  return slot;
}

static void add(Palette *palette, uint32_t color) {
  unsigned slot = slot_of(palette, color);
  if (palette->slotNumbers[slot] != 0) return;
  if (palette->count < maxColors) {
    palette->colors[palette->count] = color;
    palette->slotColors[slot] = color;
    palette->slotNumbers[slot] = 1;
  }
  palette->count += 1;
}

static int compare(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

/// Sorts the colors in ascending order and stores each color's index in its slot.
static void sort(Palette *palette) {
  qsort(palette->colors, (size_t)palette->count, sizeof *palette->colors, compare);
  for (int i = 0; i < palette->count; i++) {
    palette->slotNumbers[slot_of(palette, palette->colors[i])] = (uint16_t)(i + 1);
  }
}

void cimage_palette_read(Palette *palette, CImageBitmap bitmap) {
  memset(palette, 0, sizeof *palette);
  palette->opaque = palette->gray = true;
  uint32_t last = ~color_of(bitmap.pixels, bitmap.channels);
  for (int32_t y = 0; y < bitmap.height; y++) {
    const uint8_t *pixel = bitmap.pixels + (size_t)y * bitmap.stride;
    for (int32_t x = 0; x < bitmap.width; x++, pixel += bitmap.channels) {
      uint32_t color = color_of(pixel, bitmap.channels);
      if (color == last) continue;
      last = color;
      palette->opaque = palette->opaque && color >> 24 == 255;
      palette->gray = palette->gray && (color & 255) == (color >> 8 & 255) && (color & 255) == (color >> 16 & 255);
      if (palette->count <= maxColors) add(palette, color);
      else if (!palette->opaque && !palette->gray) return;
    }
  }
  if (palette->count <= maxColors) sort(palette);
}

CImageContent cimage_content(CImageBitmap bitmap) {
  Palette palette;
  cimage_palette_read(&palette, bitmap);
  if (palette.count <= (palette.gray && palette.opaque ? 16 : maxColors)) return CImageContentDrawing;
  return palette.opaque ? CImageContentPhoto : CImageContentCutout;
}

int cimage_palette_index(const Palette *palette, uint32_t color) {
  return palette->slotNumbers[slot_of(palette, color)] - 1;
}
