// Draws SVG with librsvg. NULL without it.

#include "formats.h"

#if __has_include(<librsvg/rsvg.h>)

#include "svg.h"

#include <stdio.h>
#include <string.h>

#include "svg_fonts.h"
#include "svg_size.h"

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "librsvg %u.%u.%u", rsvg_major_version, rsvg_minor_version, rsvg_micro_version);
  return name;
}

/// Returns true if the bytes end like a plain document. One that is cut within a tag or a text does not.
static bool is_ended(const Source *source) {
  size_t count = source->count;
  const uint8_t *bytes = source->bytes;
  bool isUTF16 = count > 1 && (bytes[0] >= 0xFE || bytes[0] == 0 || bytes[1] == 0);
  if (isUTF16 && count % 2 != 0) return false;
  // `strchr` also finds zero, which is half of each character in UTF-16.
  while (count > 0 && strchr(" \t\r\n", bytes[count - 1]) != NULL) count--;
  return count > 0 && bytes[count - 1] == '>';
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  GError *error = NULL;
  RsvgHandle *handle = *image = svg_read(source->bytes, source->count, &error);
  if (handle == NULL) {
    DecodeStatus status = svg_explain(error, text);
    bool isPlain = source->count > 0 && source->bytes[0] != 0x1F;
    return status == DecodeStatusCorrupt && isPlain && !is_ended(source) ? DecodeStatusTruncated : status;
  }
  header->channels = 4;
  header->isVector = 1;
  return svg_read_size(handle, &source->limits, header, text);
}

static void copy_profile(Image image, uint8_t *bytes) {
  (void)image, (void)bytes;
}

/// Converts the pixels that cairo has drawn, in place, to bytes in the order red, green, blue and alpha.
static void convert_pixels(uint8_t *pixels, size_t count) {
  for (uint8_t *pixel = pixels; pixel != pixels + 4 * count; pixel += 4) {
    uint32_t color;
    memcpy(&color, pixel, sizeof color);
    pixel[0] = (uint8_t)(color >> 16);
    pixel[1] = (uint8_t)(color >> 8);
    pixel[2] = (uint8_t)color;
    pixel[3] = (uint8_t)(color >> 24);
  }
  unpremultiply(pixels, count);
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  GError *error = NULL;
  size_t count = (size_t)target->width * target->height;
  memset(target->pixels, 0, 4 * count);
  target->rowCount = 0;
  svg_begin_text();
  cairo_status_t status = svg_draw(image, target->pixels, (int)target->width, (int)target->height, &error);
  convert_pixels(target->pixels, count);
  if (error != NULL) return svg_explain(error, text);
  if (status == CAIRO_STATUS_NO_MEMORY) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  if (status != CAIRO_STATUS_SUCCESS) return fail(DecodeStatusLimit, text, "%s", cairo_status_to_string(status));
  if (svg_lacks_fonts()) add_warning(text, "the text is empty boxes, because the decoder can open no fonts here");
  target->rowCount = target->height;
  return DecodeStatusOK;
}

static void close_image(Image image) {
  RsvgHandle *handle = image;
  g_clear_object(&handle);
}

static const Format format = {
    .id = DecodeFormatSVG,
    .library = library,
    .prepare = svg_prepare,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = close_image,
    .start_threads = svg_start_threads,
};

const Format *const decode_svg = &format;

#else

const Format *const decode_svg = NULL;

#endif
