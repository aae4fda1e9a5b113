// The colors of the frames of GIF files.

#ifndef CIMAGE_GIF_PALETTE_H
#define CIMAGE_GIF_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { cimageGIFColors = 256 };

/// The colors of a frame: red, green and blue.
typedef struct GIFPalette {
  uint8_t colors[cimageGIFColors][3];
  int32_t count;
} GIFPalette;

/// A part of a frame whose pixels get an index in a palette.
typedef struct GIFArea {
  /// The first pixel, and the number of pixels from one row to the next. Red is the lowest byte of a pixel, followed by
  /// green, blue and alpha, which is 255 where a pixel is drawn.
  const uint32_t *pixels;
  size_t stride;
  int32_t width, height;
  /// One byte for each pixel, without gaps between rows: 1 if it is drawn, and 0 otherwise. Then its index.
  uint8_t *indices;
} GIFArea;

/// Finds the colors of frames, one after the other.
typedef struct GIFQuantizer GIFQuantizer;

/// Returns NULL if memory runs out. The caller destroys the quantizer.
GIFQuantizer *cimage_gif_quantizer_create(void);

/// Destroys a quantizer. Does nothing for NULL.
void cimage_gif_quantizer_destroy(GIFQuantizer *quantizer);

/// Lists the colors of the pixels that are drawn. Returns false if there are more than `limit`.
bool cimage_gif_list(GIFQuantizer *quantizer, const GIFArea *area, int32_t limit, GIFPalette *palette);

/// Gives the pixels that are drawn their indices in the palette that was listed last. The others get `gap`.
void cimage_gif_look_up(GIFQuantizer *quantizer, const GIFArea *area, int32_t gap);

/// Chooses at most `limit` colors for the pixels that are drawn, and gives them indices whose mean color is that of the
/// pixels around. The others get the index after the last color. Returns false if memory runs out.
bool cimage_gif_reduce(GIFQuantizer *quantizer, const GIFArea *area, int32_t limit, GIFPalette *palette);

#endif
