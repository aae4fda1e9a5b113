// Decodes TIFF with libtiff.

#include "formats.h"

#if __has_include(<tiffio.h>)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiff_image.h"

/// The number of pages among which a full image is looked for.
enum { maxPages = 16 };

static const char *library(void) {
  static char name[64];
  const char *number = strstr(TIFFGetVersion(), "Version ");
  if (number == NULL) return "libtiff";
  number += strlen("Version ");
  snprintf(name, sizeof name, "libtiff %.*s", (int)strcspn(number, "\n"), number);
  return name;
}

/// Silences the messages that do not belong to a file.
static void prepare(void) {
  TIFFSetErrorHandler(NULL);
  TIFFSetWarningHandler(NULL);
}

/// Returns true if the page is a smaller version or a mask of another one.
static bool is_auxiliary(TIFF *tiff) {
  uint32_t type = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &type);
  return (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

/// Goes to the first page that is not auxiliary, or to the first one if all are.
static bool find_page(TIFF *tiff) {
  for (int page = 0; page < maxPages; page++) {
    if (!is_auxiliary(tiff)) return true;
    if (!TIFFReadDirectory(tiff)) break;
  }
  return TIFFSetDirectory(tiff, 0) != 0;
}

/// Opens the file, again if it is open, and goes to its page.
static bool open_page(TIFFImage *self, const char *mode) {
  if (self->tiff != NULL) TIFFClose(self->tiff);
  self->memory.position = 0;
  self->tiff = open_memory(&self->memory, mode);
  return self->tiff != NULL && find_page(self->tiff);
}

/// Returns true if the page has uncompressed tiles. Version 4.5.0 in Debian refuses those whose size is no multiple of
/// 1024 bytes, unless it reads them in place.
static bool has_plain_tiles(TIFF *tiff) {
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  return compression == COMPRESSION_NONE && TIFFIsTiled(tiff);
}

/// Turns an error that libtiff got over into a warning.
static void forgive(DecodeText *text) {
  if (text->error[0] != 0) add_warning(text, text->error);
  text->error[0] = 0;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  TIFFImage *self = *image = calloc(1, sizeof *self);
  if (self == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  self->memory = (TIFFMemory){.source = *source, .text = text};
  if (!open_page(self, "rm") || (has_plain_tiles(self->tiff) && !open_page(self, "r"))) {
    return explain(&self->memory, NULL);
  }
  DecodeStatus status = read_tiff_header(self, header, text);
  if (status == DecodeStatusOK) forgive(text);
  return status;
}

static void copy_profile(Image image, uint8_t *bytes) {
  TIFFImage *self = image;
  const void *profile = NULL;
  DecodeText text = {0};
  self->memory.text = &text;
  uint32_t count = find_tiff_profile(self, &profile, &text);
  if (count != 0) memcpy(bytes, profile, count);
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  TIFFImage *self = image;
  self->memory.text = text;
  self->memory.isShort = false;
  target->rowCount = 0;
  bool hasMemory = self->hasPlainSamples ? decode_samples(self, target) : decode_raster(self, target);
  if (!hasMemory) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  size_t count = (size_t)target->width * target->rowCount;
  if (self->isPremultiplied && self->channels == 4) unpremultiply(target->pixels, count);
  if (self->isPremultiplied && self->channels == 2) unpremultiply_gray(target->pixels, count);
  if (target->rowCount < target->height) return explain(&self->memory, self->tiff);
  forgive(text);
  return DecodeStatusOK;
}

static void close_image(Image image) {
  TIFFImage *self = image;
  if (self == NULL) return;
  DecodeText text = {0};
  self->memory.text = &text;
  if (self->hasReader) TIFFRGBAImageEnd(&self->reader);
  if (self->tiff != NULL) TIFFClose(self->tiff);
  free(self);
}

static const Format format = {
    .id = DecodeFormatTIFF,
    .library = library,
    .prepare = prepare,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = close_image,
};

const Format *const decode_tiff = &format;

#else

const Format *const decode_tiff = NULL;

#endif
