// Draws SVG with librsvg.

#include "formats.h"

#if __has_include(<librsvg/rsvg.h>)

#include <iconv.h>
#include <librsvg/rsvg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svg_fonts.h"
#include "svg_size.h"

/// An image with all that makes librsvg and its libraries load something: text in several fonts, and images.
static const char sample[] =
  "<?xml version='1.0' encoding='UTF-8'?>"
  "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>"
  "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='64' height='64'>"
  "<style>text { font-size: 9px }</style>"
  "<text y='9' font-family='sans-serif'>A\xc3\xa9\xd0\x96\xce\xa9</text>"
  "<text y='18' font-family='serif' font-style='italic'>\xd7\x90\xd8\xa8\xe0\xa4\x95</text>"
  "<text y='27' font-family='monospace' font-weight='bold'>\xe4\xb8\xad\xe3\x81\x82\xed\x95\x9c\xf0\x9f\x98\x80</text>"
  "<text y='36' xml:lang='th'>\xe0\xb9\x84\xe0\xb8\x97\xe0\xb8\xa2</text>"
  "<image width='9' height='9' xlink:href='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAAC"
  "klEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=='/>"
  "<image width='9' height='9' xlink:href='data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////"
  "////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/E"
  "ABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z'/>"
  "<image width='9' height='9' xlink:href='data:;base64,AAAA'/>"
  "</svg>";

/// An image with filters, for which librsvg starts a thread.
static const char filters[] =
  "<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64'>"
  "<filter id='blur'><feGaussianBlur stdDeviation='2'/></filter>"
  "<filter id='noise'><feTurbulence baseFrequency='0.1'/><feSpecularLighting><fePointLight z='9'/>"
  "</feSpecularLighting></filter>"
  "<rect width='64' height='64' filter='url(#noise)'/>"
  "<g filter='url(#blur)'><rect width='32' height='32'/></g>"
  "</svg>";

enum { sampleSide = 64 };

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

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "librsvg %u.%u.%u", rsvg_major_version, rsvg_minor_version, rsvg_micro_version);
  return name;
}

/// Reads a document. Without a base file, librsvg follows no reference to another file.
static RsvgHandle *read_document(const void *bytes, size_t count, GError **error) {
  GBytes *data = g_bytes_new_static(bytes, count);
  GInputStream *stream = g_memory_input_stream_new_from_bytes(data);
  RsvgHandle *handle = rsvg_handle_new_from_stream_sync(stream, NULL, RSVG_HANDLE_FLAGS_NONE, NULL, error);
  g_object_unref(stream);
  g_bytes_unref(data);
  if (handle != NULL) rsvg_handle_set_dpi(handle, svg_resolution);
  return handle;
}

/// Draws a document on `pixels`: numbers with premultiplied colors, of which blue is the lowest byte and alpha the
/// highest one.
static cairo_status_t draw(RsvgHandle *handle, uint8_t *pixels, int width, int height, GError **error) {
  cairo_surface_t *surface =
    cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32, width, height, 4 * width);
  cairo_t *context = cairo_create(surface);
  cairo_status_t status = cairo_status(context);
  const RsvgRectangle viewport = svg_scale(handle, context, width, height);
  if (status == CAIRO_STATUS_SUCCESS && rsvg_handle_render_document(handle, context, &viewport, error)) {
    status = cairo_status(context);
  }
  cairo_destroy(context);
  cairo_surface_destroy(surface);
  return status;
}

/// Takes the place of glib's function. Pango 1.50 starts a thread for each search for a font, in the middle of drawing,
/// and waits for it: the search runs at once instead.
GThread *g_thread_new(const gchar *name, GThreadFunc function, gpointer data) {
  if (g_strcmp0(name, "[pango] FcFontSetMatch") == 0 || g_strcmp0(name, "[pango] FcFontSetSort") == 0) {
    function(data);
    return g_thread_ref(g_thread_self());
  }
  GError *error = NULL;
  GThread *thread = g_thread_try_new(name, function, data, &error);
  if (thread == NULL) g_error("%s", error->message);
  return thread;
}

/// Drops a message of glib, whose own function would look for the journal of systemd.
static GLogWriterOutput drop_message(GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data) {
  (void)level, (void)fields, (void)count, (void)data;
  return G_LOG_WRITER_HANDLED;
}

/// Makes the C library load the encodings that old documents have, and keep them.
static void load_encodings(void) {
  static const char *const names[] = {"ISO-8859-2",   "ISO-8859-15", "WINDOWS-1250", "WINDOWS-1251",
                                      "WINDOWS-1252", "SHIFT_JIS",   "EUC-JP",       "GB18030"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    iconv_open("UTF-8", names[i]);
    iconv_open(names[i], "UTF-8");
  }
}

static void draw_sample(const char *document, size_t count) {
  static uint8_t pixels[sampleSide * sampleSide * 4] __attribute__((aligned(4)));
  GError *error = NULL;
  RsvgHandle *handle = read_document(document, count, &error);
  if (handle != NULL) draw(handle, pixels, sampleSide, sampleSide, &error);
  g_clear_error(&error);
  g_clear_object(&handle);
}

/// Lets librsvg and its libraries load what they would when they need it. gdk-pixbuf gets no modules: it knows PNG and
/// JPEG, which SVG requires, by itself.
static void prepare(void) {
  setenv("RAYON_NUM_THREADS", "1", 1);
  setenv("GDK_PIXBUF_MODULE_FILE", "/dev/null", 1);
  g_log_set_writer_func(drop_message, NULL, NULL);
  load_encodings();
  draw_sample(sample, sizeof sample - 1);
}

static void start_threads(void) { draw_sample(filters, sizeof filters - 1); }

/// Sets the error to librsvg's message, and clears it.
static DecodeStatus explain(GError *error, DecodeText *text) {
  DecodeStatus status = DecodeStatusCorrupt;
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
    if (strstr(error->message, causes[i].message) != NULL) status = causes[i].status;
  }
  fail(status, text, "%s", g_strchomp(error->message));
  g_error_free(error);
  return status;
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
  RsvgHandle *handle = *image = read_document(source->bytes, source->count, &error);
  if (handle == NULL) {
    DecodeStatus status = explain(error, text);
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
  cairo_status_t status = draw(image, target->pixels, (int)target->width, (int)target->height, &error);
  convert_pixels(target->pixels, count);
  if (error != NULL) return explain(error, text);
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
    .prepare = prepare,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = close_image,
    .start_threads = start_threads,
};

const Format *const decode_svg = &format;

#else

const Format *const decode_svg = NULL;

#endif
