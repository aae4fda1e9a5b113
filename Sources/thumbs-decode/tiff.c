// Decodes TIFF with libtiff.

#include "formats.h"

#if __has_include(<tiffio.h>)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "tiff_memory.h"

/// The largest ICC profile, in bytes.
enum { maxProfileBytes = 4 << 20 };

/// The number of pages among which a full image is looked for.
enum { maxPages = 16 };

typedef struct TIFFImage {
  TIFFMemory memory;
  TIFF *tiff;
  TIFFRGBAImage reader;
  bool hasReader;
  uint32_t channels;
  /// True if the colors are multiplied by alpha.
  bool isPremultiplied;
} TIFFImage;

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

/// Prevents that libtiff multiplies the colors by their alpha, and remembers if they are multiplied in the file.
static void keep_colors(TIFFImage *self) {
  uint16_t count = 0, *types = NULL, associated = EXTRASAMPLE_ASSOCALPHA;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  if (count == 0) return;
  self->isPremultiplied = types[0] == EXTRASAMPLE_ASSOCALPHA;
  if (types[0] == EXTRASAMPLE_UNASSALPHA) TIFFSetField(self->tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
}

static DecodeStatus begin(TIFFImage *self, DecodeText *text) {
  char message[1024] = "";
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_COMPRESSION, &compression);
  if (!TIFFIsCODECConfigured(compression)) {
    return fail(DecodeStatusUnsupported, text, "compression scheme %u is not supported", compression);
  }
  if (!TIFFRGBAImageOK(self->tiff, message)) return fail(DecodeStatusUnsupported, text, "%s", message);
  keep_colors(self);
  self->hasReader = TIFFRGBAImageBegin(&self->reader, self->tiff, 1, message) != 0;
  if (!self->hasReader) return fail(DecodeStatusUnsupported, text, "%s", message);
  // Rows come as they are stored.
  self->reader.orientation = self->reader.req_orientation = ORIENTATION_TOPLEFT;
  return DecodeStatusOK;
}

/// Returns the channels of the pixels. Extra samples of an unspecified kind are not alpha, though libtiff takes them
/// for it. It drops the alpha of gray pixels of 16 bits.
static uint32_t channels_of(const TIFFImage *self) {
  uint16_t count = 0, *types = NULL;
  const TIFFRGBAImage *reader = &self->reader;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  bool hasAlpha = count != 0 && types[0] != EXTRASAMPLE_UNSPECIFIED;
  bool isGray = reader->photometric == PHOTOMETRIC_MINISBLACK || reader->photometric == PHOTOMETRIC_MINISWHITE;
  if (!isGray) return hasAlpha && reader->photometric == PHOTOMETRIC_RGB ? 4 : 3;
  bool isRead = !reader->isContig || (reader->bitspersample == 8 && reader->samplesperpixel == 2);
  return hasAlpha && isRead ? 4 : 1;
}

/// Finds the ICC profile. The colors of some files do not match theirs, because libtiff converts them to RGB.
static uint32_t find_profile(const TIFFImage *self, const void **bytes, DecodeText *text) {
  uint32_t count = 0;
  uint16_t photometric = self->reader.photometric;
  if (!TIFFGetField(self->tiff, TIFFTAG_ICCPROFILE, &count, bytes) || count == 0) return 0;
  TIFFGetField(self->tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_PALETTE:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
      if (count <= maxProfileBytes) return count;
      add_warning(text, "the ICC profile is too large");
      return 0;
    default:
      add_warning(text, "the colors are approximate, because the ICC profile is not used");
      return 0;
  }
}

static void copy_profile(Image image, uint8_t *bytes) {
  TIFFImage *self = image;
  const void *profile = NULL;
  DecodeText text = {0};
  self->memory.text = &text;
  uint32_t count = find_profile(self, &profile, &text);
  if (count != 0) memcpy(bytes, profile, count);
}

static DecodeStatus read_header(TIFFImage *self, DecodeHeader *header, DecodeText *text) {
  DecodeStatus status = DecodeStatusOK;
  const void *profile = NULL;
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetField(self->tiff, TIFFTAG_IMAGEWIDTH, &header->width);
  TIFFGetField(self->tiff, TIFFTAG_IMAGELENGTH, &header->height);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_ORIENTATION, &orientation);
  if (!check_size(header->width, header->height, &self->memory.source.limits, &status, text)) return status;
  status = begin(self, text);
  if (status != DecodeStatusOK) return status;
  header->orientation = orientation;
  header->channels = self->channels = channels_of(self);
  header->profileCount = find_profile(self, &profile, text);
  return DecodeStatusOK;
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
  self->tiff = open_memory(&self->memory);
  if (self->tiff == NULL || !find_page(self->tiff)) return explain(&self->memory, NULL);
  DecodeStatus status = read_header(self, header, text);
  if (status == DecodeStatusOK) forgive(text);
  return status;
}

/// Returns the rows that libtiff decodes at once: those of a strip or a tile, because it starts each at its first row.
static uint32_t band_rows(const TIFFImage *self) {
  uint32_t rows = 0;
  TIFFGetFieldDefaulted(self->tiff, TIFFIsTiled(self->tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
  return rows == 0 || rows > self->reader.height ? self->reader.height : rows;
}

/// Returns true if the pixels of the target are what libtiff writes: numbers whose lowest byte is red.
static bool is_raster(const Target *target) {
  const uint32_t one = 1;
  return target->channels == 4 && (uintptr_t)target->pixels % _Alignof(uint32_t) == 0 && *(const uint8_t *)&one == 1;
}

static void copy_pixels(const uint32_t *raster, size_t count, uint32_t channels, uint8_t *pixels) {
  for (const uint32_t *pixel = raster; pixel != raster + count; pixel++) {
    *pixels++ = (uint8_t)TIFFGetR(*pixel);
    if (channels >= 3) *pixels++ = (uint8_t)TIFFGetG(*pixel);
    if (channels >= 3) *pixels++ = (uint8_t)TIFFGetB(*pixel);
    if (channels == 4) *pixels++ = (uint8_t)TIFFGetA(*pixel);
  }
}

/// Decodes bands until all are complete, or one fails. `raster` has room for one; if it is NULL, libtiff writes to the
/// target.
static void decode_bands(TIFFImage *self, Target *target, uint32_t *raster, uint32_t bandRows) {
  size_t rowBytes = (size_t)target->width * target->channels;
  while (target->rowCount < target->height) {
    uint8_t *pixels = target->pixels + target->rowCount * rowBytes;
    uint32_t left = target->height - target->rowCount;
    uint32_t rows = left < bandRows ? left : bandRows;
    self->reader.row_offset = (int)target->rowCount;
    if (!TIFFRGBAImageGet(&self->reader, raster != NULL ? raster : (uint32_t *)(void *)pixels, target->width, rows)) {
      return;
    }
    if (raster != NULL) copy_pixels(raster, (size_t)target->width * rows, target->channels, pixels);
    target->rowCount += rows;
  }
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  TIFFImage *self = image;
  uint32_t bandRows = band_rows(self), *raster = NULL;
  self->memory.text = text;
  self->memory.isShort = false;
  target->rowCount = 0;
  if (!is_raster(target)) {
    raster = malloc((size_t)target->width * bandRows * sizeof *raster);
    if (raster == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  }
  decode_bands(self, target, raster, bandRows);
  free(raster);
  if (self->isPremultiplied && self->channels == 4) {
    unpremultiply(target->pixels, (size_t)target->width * target->rowCount);
  }
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
