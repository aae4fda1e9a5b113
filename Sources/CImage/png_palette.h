// What the pixels of a picture have in common, so that a PNG file need not say it for each.

#ifndef CIMAGE_PNG_PALETTE_H
#define CIMAGE_PNG_PALETTE_H

#include <stdbool.h>

#include "CImage.h"

enum { maxColors = 256, colorSlots = 1024 };

/// The colours of a picture.
typedef struct Palette {
  /// All pixels are opaque; all are gray.
  bool opaque, gray;
  /// How many colours there are; `maxColors + 1` for any number above.
  int count;
  /// Alpha, red, green, blue, from the upper byte down; in rising order, so that opaque colours come last.
  uint32_t colors[maxColors];
  /// A hash table of them, by linear probing: the colour, and its number plus 1, or 0 where there is none.
  uint32_t slotColors[colorSlots];
  uint16_t slotNumbers[colorSlots];
} Palette;

/// Looks at every pixel.
void cimage_palette_read(Palette *palette, CImageBitmap bitmap);

/// The number of a colour that is in the palette.
int cimage_palette_index(const Palette *palette, uint32_t color);

/// A pixel of any number of channels as a palette's colour.
static inline uint32_t color_of(const uint8_t *pixel, int channels) {
  uint32_t red = pixel[0], green = channels > 2 ? pixel[1] : red, blue = channels > 2 ? pixel[2] : red;
  uint32_t alpha = channels == 2 ? pixel[1] : channels == 4 ? pixel[3] : 255;
  return alpha << 24 | red << 16 | green << 8 | blue;
}

#endif
