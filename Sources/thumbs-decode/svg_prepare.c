// Makes librsvg and its libraries load all that they need before the sandbox closes, and notices missing fonts.

#if __has_include(<librsvg/rsvg.h>)

#include "svg.h"

#include <dlfcn.h>
#include <iconv.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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
  RsvgHandle *handle = svg_read(document, count, &error);
  if (handle != NULL) svg_draw(handle, pixels, sampleSide, sampleSide, &error);
  g_clear_error(&error);
  g_clear_object(&handle);
}

typedef void SetFontMap(void *map);

/// Ends the thread that Pango has for each font map since version 1.52: Landlock would not apply to it. The fonts stay
/// loaded. Gives up after a second; then Landlock is not used.
static void end_font_thread(void) {
  SetFontMap *set_map = (SetFontMap *)dlsym(RTLD_DEFAULT, "pango_cairo_font_map_set_default");
  if (set_map == NULL) return;
  set_map(NULL);
  const struct timespec pause = {.tv_nsec = 1000000};
  for (int attempt = 0; attempt < 1000 && !has_one_thread(); attempt++) nanosleep(&pause, NULL);
}

static bool has_font_thread;

void svg_prepare(void) {
  setenv("RAYON_NUM_THREADS", "1", 1);
  // gdk-pixbuf knows PNG and JPEG, which SVG requires, by itself.
  setenv("GDK_PIXBUF_MODULE_FILE", "/dev/null", 1);
  g_log_set_writer_func(drop_message, NULL, NULL);
  load_encodings();
  draw_sample(sample, sizeof sample - 1);
  has_font_thread = !has_one_thread();
  if (has_font_thread) end_font_thread();
}

void svg_start_threads(void) {
  // Gives Pango a new font map, with a new thread.
  if (has_font_thread) draw_sample(sample, sizeof sample - 1);
  draw_sample(filters, sizeof filters - 1);
}

// MARK: Fonts

static bool has_text;

typedef void SetText(void *layout, const char *text, int length);

/// Takes the place of Pango's function, which librsvg calls for each text that it draws.
SetText pango_layout_set_text;

void pango_layout_set_text(void *layout, const char *text, int length) {
  has_text = true;
  SetText *original = (SetText *)dlsym(RTLD_NEXT, "pango_layout_set_text");
  if (original != NULL) original(layout, text, length);
}

void svg_begin_text(void) { has_text = false; }

bool svg_lacks_fonts(void) { return has_text && !can_open_fonts(); }

#endif
