#include "expand.h"

#include <string.h>

/// The transparency of a file: the opacity of the first colors of its palette, or a color.
typedef struct Transparency {
  png_bytep opacity;
  int count;
  png_color_16p color;
} Transparency;

static Transparency transparency_of(png_structp png, png_infop info) {
  Transparency found = {0};
  if (png_get_tRNS(png, info, &found.opacity, &found.count, &found.color) == 0) return (Transparency){0};
  return found;
}

/// Colors after the end of the palette are black.
static void fill_palette(Expansion *self, png_structp png, png_infop info) {
  png_colorp colors = NULL;
  int count = 0;
  png_get_PLTE(png, info, &colors, &count);
  Transparency transparency = transparency_of(png, info);
  for (int i = 0; i < 256; i++) {
    png_color color = i < count ? colors[i] : (png_color){0};
    uint8_t alpha = transparency.opacity != NULL && i < transparency.count ? transparency.opacity[i] : 255;
    memcpy(self->table[i], (uint8_t[]){color.red, color.green, color.blue, alpha}, 4);
  }
}

static void fill_grays(Expansion *self, png_structp png, png_infop info) {
  int last = (1 << self->bits) - 1;
  Transparency transparency = transparency_of(png, info);
  for (int i = 0; i <= last; i++) {
    bool isClear = transparency.color != NULL && (transparency.color->gray & last) == i;
    self->table[i][0] = (uint8_t)(i * 255 / last);
    self->table[i][1] = isClear ? 0 : 255;
  }
}

static void set_transparent(Expansion *self, png_structp png, png_infop info) {
  png_color_16p color = transparency_of(png, info).color;
  if (color == NULL) return;
  self->hasTransparent = true;
  memcpy(self->transparent, (uint8_t[]){(uint8_t)color->red, (uint8_t)color->green, (uint8_t)color->blue}, 3);
}

void cimage_expansion_init(Expansion *self, png_structp png, png_infop info, int channels) {
  int color = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
  memset(self, 0, sizeof *self);
  self->width = (int32_t)png_get_image_width(png, info);
  self->bits = depth * png_get_channels(png, info);
  self->channels = channels;
  self->isIdentity = depth == 8 && color != PNG_COLOR_TYPE_PALETTE && png_get_channels(png, info) == channels;
  self->isLookup = color == PNG_COLOR_TYPE_PALETTE || color == PNG_COLOR_TYPE_GRAY;
  if (color == PNG_COLOR_TYPE_PALETTE) fill_palette(self, png, info);
  if (color == PNG_COLOR_TYPE_GRAY) fill_grays(self, png, info);
  if (color == PNG_COLOR_TYPE_RGB) set_transparent(self, png, info);
}

/// Looks up each pixel of 8 bits or fewer.
static inline void look_up(const Expansion *self, const uint8_t *row, uint8_t *out, size_t channels) {
  const unsigned bits = (unsigned)self->bits, mask = (1u << bits) - 1;
  for (int32_t x = 0; x < self->width; x++, out += channels) {
    size_t bit = (size_t)x * bits;
    unsigned number = row[bit / 8] >> (8 - bits - bit % 8) & mask;
    memcpy(out, self->table[number], channels);
  }
}

static void add_alpha(const Expansion *self, const uint8_t *row, uint8_t *out) {
  for (int32_t x = 0; x < self->width; x++, row += 3, out += 4) {
    memcpy(out, row, 3);
    out[3] = self->hasTransparent && memcmp(row, self->transparent, 3) == 0 ? 0 : 255;
  }
}

void cimage_expand_row(const Expansion *self, const uint8_t *row, uint8_t *out) {
  if (!self->isLookup) {
    add_alpha(self, row, out);
    return;
  }
  switch (self->channels) {
    case 1: look_up(self, row, out, 1); break;
    case 2: look_up(self, row, out, 2); break;
    case 3: look_up(self, row, out, 3); break;
    default: look_up(self, row, out, 4); break;
  }
}
