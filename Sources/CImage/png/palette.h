// Finds properties that all pixels of an image share, which allow a smaller PNG file.

#ifndef CIMAGE_PNG_PALETTE_H
#define CIMAGE_PNG_PALETTE_H

#include <stdbool.h>

#include "CImage.h"

enum { maxColors = 256, colorSlots = 1024 };

/// The colors of an image.
typedef struct Palette {
  /// True if all pixels are opaque; true if all are gray.
  bool opaque, gray;
  /// The number of colors, or `maxColors + 1` if there are more than `maxColors`.
  int count;
  /// The colors as alpha, red, green, blue from the highest byte down, in ascending order, so that opaque colors come
  /// last.
  uint32_t colors[maxColors];
  /// A hash table with linear probing: the color, and its index plus 1, or 0 for a free slot.
  uint32_t slotColors[colorSlots];
  uint16_t slotNumbers[colorSlots];
} Palette;

/// Collects the colors of all pixels. Stops early when nothing more can be learned.
void cimage_palette_read(Palette *palette, CImageBitmap bitmap);

/// Returns the index of a color that is in the palette.
int cimage_palette_index(const Palette *palette, uint32_t color);

/// Returns a pixel with any number of channels as a color of the palette.
static inline uint32_t color_of(const uint8_t *pixel, int channels) {
  uint32_t red = pixel[0], green = channels > 2 ? pixel[1] : red, blue = channels > 2 ? pixel[2] : red;
  uint32_t alpha = channels == 2 ? pixel[1] : channels == 4 ? pixel[3] : 255;
  return alpha << 24 | red << 16 | green << 8 | blue;
}

#endif
