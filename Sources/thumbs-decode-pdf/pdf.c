// Draws a page of a PDF document with poppler. NULL without it.

#include <CDecoder.h>

#if __has_include(<poppler.h>)

#include <poppler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// An open document.
typedef struct Document {
  PopplerDocument *document;
  PopplerPage *page;
  int pageNumber;
} Document;

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "poppler %s", poppler_get_version());
  return name;
}

// MARK: Document

static PopplerDocument *read_document(const void *bytes, size_t count, GError **error) {
  GBytes *data = g_bytes_new_static(bytes, count);
  PopplerDocument *document = poppler_document_new_from_bytes(data, NULL, error);
  g_bytes_unref(data);
  return document;
}

/// Returns true if the end of the file is marked within its last 1024 bytes, as readers expect (ISO 32000-1, annex H),
/// besides padding. poppler would draw what is left of a file that is cut off.
static bool has_end(const Source *source) {
  enum { tail = 1024 };
  const uint8_t *bytes = source->bytes;
  size_t end = source->count;
  while (end > 0 && (bytes[end - 1] == 0 || bytes[end - 1] == '\n' || bytes[end - 1] == '\r')) end--;
  size_t count = end < tail ? end : tail;
  return memmem(bytes + end - count, count, "%%EOF", 5) != NULL;
}

/// Sets the error of `text` for a document that cannot be opened, clears `error`, and returns the status.
static DecodeStatus explain(GError *error, DecodeText *text) {
  bool isEncrypted = g_error_matches(error, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED);
  g_clear_error(&error);
  if (isEncrypted) return fail(DecodeStatusUnsupported, text, "the document is encrypted, and needs a password");
  return fail(DecodeStatusCorrupt, text, "the document is damaged");
}

static DecodeStatus open_page(Document *self, const Source *source, DecodeHeader *header, DecodeText *text) {
  int count = poppler_document_get_n_pages(self->document);
  uint32_t number = source->page > 1 ? source->page : 1;
  if (count < 1) return fail(DecodeStatusCorrupt, text, "the document has no pages");
  if (number > (uint32_t)count) {
    return fail(DecodeStatusNoPage, text, "there are %d pages, and page %u is wanted", count, number);
  }
  self->pageNumber = (int)number;
  self->page = poppler_document_get_page(self->document, (int)number - 1);
  if (self->page == NULL) return fail(DecodeStatusCorrupt, text, "the page is damaged");
  double width = 0, height = 0;
  // Of the crop box, turned.
  poppler_page_get_size(self->page, &width, &height);
  header->channels = 3;
  return declare_vector(width, height, &source->limits, header, text);
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  Document *self = *image = calloc(1, sizeof *self);
  if (self == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  GError *error = NULL;
  if (!has_end(source)) return fail(DecodeStatusTruncated, text, "the file ends before the document does");
  self->document = read_document(source->bytes, source->count, &error);
  if (self->document == NULL) return explain(error, text);
  return open_page(self, source, header, text);
}

static void copy_profile(Image image, uint8_t *bytes) { (void)image, (void)bytes; }

// MARK: Fonts

static bool has_foreign_font(PopplerFontsIter *fonts) {
  do {
    if (!poppler_fonts_iter_is_embedded(fonts)) return true;
  } while (poppler_fonts_iter_next(fonts));
  return false;
}

/// Returns true if the page, or one before it, has text in a font that the document does not contain.
static bool needs_fonts(const Document *self) {
  PopplerFontInfo *info = poppler_font_info_new(self->document);
  PopplerFontsIter *fonts = NULL;
  bool needs = poppler_font_info_scan(info, self->pageNumber, &fonts) && fonts != NULL && has_foreign_font(fonts);
  poppler_fonts_iter_free(fonts);
  poppler_font_info_free(info);
  return needs;
}

// MARK: Pixels

/// Draws the page on white paper, with its form fields and annotations.
static cairo_status_t draw(PopplerPage *page, cairo_surface_t *surface, int width, int height) {
  double pageWidth = 1, pageHeight = 1;
  poppler_page_get_size(page, &pageWidth, &pageHeight);
  cairo_t *context = cairo_create(surface);
  cairo_set_source_rgb(context, 1, 1, 1);
  cairo_paint(context);
  cairo_scale(context, width / pageWidth, height / pageHeight);
  poppler_page_render(page, context);
  cairo_status_t status = cairo_status(context);
  cairo_destroy(context);
  cairo_surface_flush(surface);
  return status;
}

/// Copies what cairo has drawn, 32 bits per pixel with blue in the lowest byte, as red, green and blue.
static void copy_pixels(cairo_surface_t *surface, Target *target) {
  const uint8_t *pixels = cairo_image_surface_get_data(surface);
  size_t stride = (size_t)cairo_image_surface_get_stride(surface);
  uint8_t *out = target->pixels;
  for (uint32_t y = 0; y < target->height; y++) {
    for (uint32_t x = 0; x < target->width; x++, out += 3) {
      uint32_t color;
      memcpy(&color, pixels + y * stride + 4 * (size_t)x, sizeof color);
      out[0] = (uint8_t)(color >> 16);
      out[1] = (uint8_t)(color >> 8);
      out[2] = (uint8_t)color;
    }
  }
  target->rowCount = target->height;
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  Document *self = image;
  target->rowCount = 0;
  cairo_surface_t *surface =
    cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)target->width, (int)target->height);
  cairo_status_t status = cairo_surface_status(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = draw(self->page, surface, (int)target->width, (int)target->height);
  if (status == CAIRO_STATUS_SUCCESS) copy_pixels(surface, target);
  cairo_surface_destroy(surface);
  if (status == CAIRO_STATUS_NO_MEMORY) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  if (status != CAIRO_STATUS_SUCCESS) return fail(DecodeStatusLimit, text, "%s", cairo_status_to_string(status));
  if (!can_open_fonts() && needs_fonts(self)) {
    add_warning(text, "text is missing whose fonts the document lacks, because the decoder can open none here");
  }
  return DecodeStatusOK;
}

static void close_image(Image image) {
  Document *self = image;
  if (self == NULL) return;
  g_clear_object(&self->page);
  g_clear_object(&self->document);
  free(self);
}

// MARK: Preparation

/// A page with text in fonts that are not in the document, for which poppler loads what it needs of the system.
static const char sample[] =
  "%PDF-1.4\n"
  "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
  "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
  "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 64 64]/Contents 4 0 R/Resources<</Font<<"
  "/A<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>/B<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>"
  "/C<</Type/Font/Subtype/Type1/BaseFont/Courier>>/D<</Type/Font/Subtype/Type1/BaseFont/Symbol>>>>>>>>endobj\n"
  "4 0 obj<</Length 104>>stream\n"
  "BT /A 9 Tf 2 50 Td (A) Tj /B 9 Tf (B) Tj /C 9 Tf (C) Tj /D 9 Tf (D) Tj ET 1 0 0 RG 0 0 m 64 64 l S          \n"
  "endstream endobj\n"
  "trailer<</Root 1 0 R>>\n%%EOF\n";

static GLogWriterOutput drop_message(GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data) {
  (void)level, (void)fields, (void)count, (void)data;
  return G_LOG_WRITER_HANDLED;
}

static void prepare(void) {
  enum { side = 64 };
  g_log_set_writer_func(drop_message, NULL, NULL);
  DecodeText text = {0};
  uint8_t pixels[side * side * 3];
  Source source = {.bytes = (const uint8_t *)sample, .count = sizeof sample - 1,
                   .limits = {.pixels = side * side, .side = side}};
  DecodeHeader header = {0};
  Target target = {.pixels = pixels, .width = side, .height = side, .channels = 3};
  Image image = NULL;
  if (open_image(&source, &image, &header, &text) == DecodeStatusOK) decode(image, &target, &text);
  close_image(image);
}

// MARK: Format

static const Format format = {
    .id = DecodeFormatPDF,
    .library = library,
    .prepare = prepare,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = close_image,
};

const Format *const decode_pdf = &format;

#else

const Format *const decode_pdf = NULL;

#endif
