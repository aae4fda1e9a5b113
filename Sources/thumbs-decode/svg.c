// Draws SVG documents with librsvg. NULL without it.

#include "formats.h"

#if __has_include(<librsvg/rsvg.h>)

#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "librsvg %u.%u.%u", rsvg_major_version, rsvg_minor_version, rsvg_micro_version);
  return name;
}

// MARK: Errors

/// Parts of the messages of librsvg and libxml2, which have no codes for these causes, and what they mean.
static const struct Cause {
  const char *message;
  DecodeStatus status;
} causes[] = {
  {"exceeded more than", DecodeStatusLimit},
  {"cannot load more than", DecodeStatusLimit},
  {"entity reference loop", DecodeStatusLimit},
  {"entity amplification", DecodeStatusLimit},
  {"Excessive depth", DecodeStatusLimit},
  {"nested layers", DecodeStatusLimit},
  {"InvalidSize", DecodeStatusLimit},
  {"Premature end of data", DecodeStatusTruncated},
  // The end of compressed data.
  {"Need more input", DecodeStatusTruncated},
  // Compressed files are only known to be compressed.
  {"does not have <svg> root", DecodeStatusNotAnImage},
  {"Start tag expected", DecodeStatusNotAnImage},
  {"Document is empty", DecodeStatusNotAnImage},
};

/// Sets the error of `text` to librsvg's message, clears `error`, and returns the status.
static DecodeStatus explain(GError *error, DecodeText *text) {
  DecodeStatus status = DecodeStatusCorrupt;
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
    if (strstr(error->message, causes[i].message) != NULL) status = causes[i].status;
  }
  fail(status, text, "%s", g_strchomp(error->message));
  g_error_free(error);
  return status;
}

// MARK: Size

/// The resolution of CSS, in pixels per inch (CSS Values and Units, section 6.2).
enum { resolution = 96 };

/// The size of an image that declares none, as in browsers.
static const double defaultWidth = 300, defaultHeight = 150;

/// Returns a length in pixels, or 0 if it is relative to something else.
static double pixels_of(RsvgLength length) {
  switch (length.unit) {
    case RSVG_UNIT_PX:
      return length.length;
    case RSVG_UNIT_IN:
      return length.length * resolution;
    case RSVG_UNIT_CM:
      return length.length * resolution / 2.54;
    case RSVG_UNIT_MM:
      return length.length * resolution / 25.4;
    case RSVG_UNIT_PT:
      return length.length * resolution / 72;
    case RSVG_UNIT_PC:
      return length.length * resolution / 6;
    default:
      return 0;
  }
}

/// Returns the size in pixels. What is not declared follows from the aspect ratio of the view box, or is the default
/// (CSS Images, section 5.3).
static void find_size(RsvgHandle *handle, double *width, double *height) {
  gboolean hasWidth = FALSE, hasHeight = FALSE, hasBox = FALSE;
  RsvgLength declaredWidth, declaredHeight;
  RsvgRectangle box;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle, width, height)) return;
  rsvg_handle_get_intrinsic_dimensions(handle, &hasWidth, &declaredWidth, &hasHeight, &declaredHeight, &hasBox, &box);
  *width = hasWidth ? pixels_of(declaredWidth) : 0;
  *height = hasHeight ? pixels_of(declaredHeight) : 0;
  if (!hasBox) {
    if (*width == 0) *width = defaultWidth;
    if (*height == 0) *height = defaultHeight;
  } else if (*width != 0) {
    *height = *width * box.height / box.width;
  } else if (*height != 0) {
    *width = *height * box.width / box.height;
  } else {
    *width = box.width;
    *height = box.height;
  }
}

/// Sets the size of the header.
static DecodeStatus read_size(RsvgHandle *handle, const Limits *limits, DecodeHeader *header, DecodeText *text) {
  double width, height;
  find_size(handle, &width, &height);
  return declare_vector(width, height, limits, header, text);
}

// MARK: Document

RsvgHandle *svg_read(const void *bytes, size_t count, GError **error) {
  GBytes *data = g_bytes_new_static(bytes, count);
  GInputStream *stream = g_memory_input_stream_new_from_bytes(data);
  // Without a base file, librsvg follows no reference to another file.
  RsvgHandle *handle = rsvg_handle_new_from_stream_sync(stream, NULL, RSVG_HANDLE_FLAGS_NONE, NULL, error);
  g_object_unref(stream);
  g_bytes_unref(data);
  if (handle != NULL) rsvg_handle_set_dpi(handle, resolution);
  return handle;
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

/// The number of bytes of a document in which a variable is searched for.
enum { searchedCount = 16 << 20 };

/// Copies the beginning of the document, decompressed. Returns the number of bytes.
static size_t copy_text(const Source *source, char *text) {
  GInputStream *stream = g_memory_input_stream_new_from_data(source->bytes, (gssize)source->count, NULL);
  if (source->count > 0 && source->bytes[0] == 0x1F) {
    GConverter *unpacking = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
    GInputStream *packed = stream;
    stream = g_converter_input_stream_new(packed, unpacking);
    g_object_unref(packed);
    g_object_unref(unpacking);
  }
  gsize count = 0;
  g_input_stream_read_all(stream, text, searchedCount, &count, NULL, NULL);
  g_object_unref(stream);
  return count;
}

/// Returns true if the document uses a variable of CSS, which librsvg does not know.
static bool uses_variables(const Source *source) {
  char *text = malloc(searchedCount);
  if (text == NULL) return false;
  size_t count = copy_text(source, text), length = 0;
  // Half of each character in UTF-16 is zero.
  for (size_t i = 0; i < count; i++) {
    if (text[i] != 0) text[length++] = text[i];
  }
  bool isFound = false;
  const char *rest = text, *end = text + length;
  while (!isFound && (rest = memmem(rest, (size_t)(end - rest), "var(", 4)) != NULL) {
    for (rest += 4; rest < end && strchr(" \t\r\n", *rest) != NULL;) rest++;
    isFound = end - rest >= 2 && memcmp(rest, "--", 2) == 0;
  }
  free(text);
  return isFound;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  GError *error = NULL;
  RsvgHandle *handle = *image = svg_read(source->bytes, source->count, &error);
  if (handle == NULL) {
    DecodeStatus status = explain(error, text);
    bool isPlain = source->count > 0 && source->bytes[0] != 0x1F;
    return status == DecodeStatusCorrupt && isPlain && !is_ended(source) ? DecodeStatusTruncated : status;
  }
  if (uses_variables(source)) add_warning(text, "variables of CSS are not supported, so that colors may be missing");
  header->channels = 4;
  return read_size(handle, &source->limits, header, text);
}

static void copy_profile(Image image, uint8_t *bytes) {
  (void)image, (void)bytes;
}

// MARK: Pixels

/// Returns true if librsvg adapts the document to the viewport.
static bool is_scalable(RsvgHandle *handle) {
  gboolean hasBox = FALSE;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle, NULL, NULL)) return true;
  rsvg_handle_get_intrinsic_dimensions(handle, NULL, NULL, NULL, NULL, &hasBox, NULL);
  return hasBox;
}

/// Returns the viewport in which the document fills a surface, and scales the context if librsvg does not.
static RsvgRectangle fit(RsvgHandle *handle, cairo_t *context, int width, int height) {
  RsvgRectangle viewport = {0, 0, width, height};
  if (is_scalable(handle)) return viewport;
  find_size(handle, &viewport.width, &viewport.height);
  cairo_scale(context, width / viewport.width, height / viewport.height);
  return viewport;
}

cairo_status_t svg_draw(RsvgHandle *handle, uint8_t *pixels, int width, int height, GError **error) {
  cairo_surface_t *surface =
    cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32, width, height, 4 * width);
  cairo_t *context = cairo_create(surface);
  cairo_status_t status = cairo_status(context);
  const RsvgRectangle viewport = fit(handle, context, width, height);
  if (status == CAIRO_STATUS_SUCCESS && rsvg_handle_render_document(handle, context, &viewport, error)) {
    status = cairo_status(context);
  }
  cairo_destroy(context);
  cairo_surface_destroy(surface);
  return status;
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
  if (error != NULL) return explain(error, text);
  if (status == CAIRO_STATUS_NO_MEMORY) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  if (status != CAIRO_STATUS_SUCCESS) return fail(DecodeStatusLimit, text, "%s", cairo_status_to_string(status));
  if (svg_lacks_fonts()) add_warning(text, "the text is empty boxes, because the decoder can open no fonts here");
  target->rowCount = target->height;
  return DecodeStatusOK;
}

// MARK: Format

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
