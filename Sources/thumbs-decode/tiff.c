// Decodes TIFF images with libtiff. NULL without it.

#include "formats.h"

#if __has_include(<tiffio.h>)

#include "tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// MARK: File

/// The memory of a block of libtiff: that of the pixels with four samples of 32 bits, and some for small images.
enum { bytesPerPixel = 16, smallBytes = 16 << 20 };

static tmsize_t read_bytes(thandle_t handle, void *bytes, tmsize_t count) {
  TIFFMemory *memory = handle;
  size_t left = memory->position < memory->source.count ? memory->source.count - (size_t)memory->position : 0;
  if (count < 0) return -1;
  if ((size_t)count > left) {
    memory->isShort = true;
    count = (tmsize_t)left;
  }
  if (count == 0) return 0;
  memcpy(bytes, memory->source.bytes + memory->position, (size_t)count);
  memory->position += (uint64_t)count;
  return count;
}

static tmsize_t write_bytes(thandle_t handle, void *bytes, tmsize_t count) {
  (void)handle, (void)bytes, (void)count;
  return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int origin) {
  TIFFMemory *memory = handle;
  if (origin == SEEK_CUR) offset += memory->position;
  if (origin == SEEK_END) offset += memory->source.count;
  return memory->position = offset;
}

static toff_t size_of(thandle_t handle) {
  return ((TIFFMemory *)handle)->source.count;
}

static int close_file(thandle_t handle) {
  (void)handle;
  return 0;
}

/// Gives libtiff the file itself, so that it reads without copying, if the mode of opening allows that.
static int map_file(thandle_t handle, void **base, toff_t *size) {
  TIFFMemory *memory = handle;
  *base = (void *)(uintptr_t)memory->source.bytes;
  *size = memory->source.count;
  return 1;
}

static void unmap_file(thandle_t handle, void *base, toff_t size) {
  (void)handle, (void)base, (void)size;
}

/// Takes the first error, which has the cause of those that follow. `user` is the file.
static int receive_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  DecodeText *text = ((TIFFMemory *)user)->text;
  (void)tiff, (void)module;
  if (text->error[0] == 0) vsnprintf(text->error, sizeof text->error, format, arguments);
  return 1;
}

/// Takes a warning. Tags that libtiff does not know are common and harmless.
static int receive_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  char line[160];
  (void)tiff, (void)module;
  vsnprintf(line, sizeof line, format, arguments);
  if (strncmp(line, "Unknown field", strlen("Unknown field")) != 0) add_warning(((TIFFMemory *)user)->text, line);
  return 1;
}

uint64_t block_limit(const Limits *limits) {
  uint64_t most = (uint64_t)INT64_MAX / bytesPerPixel - smallBytes;
  return (limits->pixels < most ? limits->pixels : most) * bytesPerPixel + smallBytes;
}

/// Opens the file and reads its first directory. Returns NULL if that fails. With the mode `rm`, libtiff calls
/// functions to read, which see if bytes are missing; with `r`, it may read them in place.
static TIFF *open_memory(TIFFMemory *memory, const char *mode) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (options == NULL) return NULL;
  TIFFOpenOptionsSetErrorHandlerExtR(options, receive_error, memory);
  TIFFOpenOptionsSetWarningHandlerExtR(options, receive_warning, memory);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)block_limit(&memory->source.limits));
  TIFF *tiff = TIFFClientOpenExt("image", mode, memory, read_bytes, write_bytes, seek, close_file, size_of, map_file,
                                 unmap_file, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

// MARK: Pages

/// The number of auxiliary pages among which a full image is looked for, and the most pages that are passed over.
enum { maxAuxiliary = 16, maxPages = 10000 };

/// Returns true if the page is a smaller version or a mask of another one.
static bool is_auxiliary(TIFF *tiff) {
  uint32_t type = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &type);
  return (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

/// Goes to the first page that is not auxiliary, or to the first one if all are.
static bool find_first_page(TIFF *tiff) {
  for (int page = 0; page < maxAuxiliary; page++) {
    if (!is_auxiliary(tiff)) return true;
    if (!TIFFReadDirectory(tiff)) break;
  }
  return TIFFSetDirectory(tiff, 0) != 0;
}

/// Goes to a page by its number, from 1, among those that are not auxiliary. Sets `hasPage` to false if there are
/// fewer.
static bool find_page(TIFF *tiff, uint32_t number, bool *hasPage) {
  *hasPage = true;
  if (number <= 1) return find_first_page(tiff);
  uint32_t found = is_auxiliary(tiff) ? 0 : 1;
  for (int page = 1; page < maxPages && found < number && TIFFReadDirectory(tiff); page++) {
    found += is_auxiliary(tiff) ? 0 : 1;
  }
  *hasPage = found == number;
  return *hasPage;
}

/// Opens the file, again if it is open, and goes to its page.
static bool open_page(TIFFImage *self, const char *mode) {
  if (self->tiff != NULL) TIFFClose(self->tiff);
  self->memory.position = 0;
  self->tiff = open_memory(&self->memory, mode);
  return self->tiff != NULL && find_page(self->tiff, self->memory.source.page, &self->hasPage);
}

/// Returns true if the page has uncompressed tiles. Version 4.5.0 in Debian refuses those whose size is no multiple of
/// 1024 bytes, unless it reads them in place.
static bool has_plain_tiles(TIFF *tiff) {
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  return compression == COMPRESSION_NONE && TIFFIsTiled(tiff);
}

// MARK: Errors

/// Returns true if a strip or tile of the page ends behind the end of the file.
static bool is_cut(const TIFFMemory *memory, TIFF *tiff) {
  uint32_t count = TIFFIsTiled(tiff) ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t offset = TIFFGetStrileOffset(tiff, i), size = TIFFGetStrileByteCount(tiff, i);
    if (size > memory->source.count || offset > memory->source.count - size) return true;
  }
  return false;
}

/// Returns the status for the error that libtiff has reported. If `tiff` is not NULL, decoding its strips or tiles has
/// failed.
static DecodeStatus explain(const TIFFMemory *memory, TIFF *tiff) {
  char *error = memory->text->error;
  if (strstr(error, "byte limit") != NULL) return DecodeStatusLimit;
  if (strstr(error, "ut of memory") != NULL || strstr(error, "o space for") != NULL) {
    return DecodeStatusOutOfMemory;
  }
  if (error[0] == 0) fail(DecodeStatusCorrupt, memory->text, "invalid image data");
  return memory->isShort || (tiff != NULL && is_cut(memory, tiff)) ? DecodeStatusTruncated : DecodeStatusCorrupt;
}

/// Turns an error that libtiff got over into a warning.
static void forgive(DecodeText *text) {
  if (text->error[0] != 0) add_warning(text, text->error);
  text->error[0] = 0;
}

// MARK: Header

/// Prevents libtiff from multiplying the colors by their alpha, and remembers if they are multiplied in the file.
static void keep_colors(TIFFImage *self) {
  uint16_t count = 0, *types = NULL, associated = EXTRASAMPLE_ASSOCALPHA;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  if (count == 0) return;
  self->isPremultiplied = types[0] == EXTRASAMPLE_ASSOCALPHA;
  if (types[0] == EXTRASAMPLE_UNASSALPHA) TIFFSetField(self->tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
}

/// Returns true if the program has to convert the samples, because libtiff does not: floating-point ones, those of 12
/// bits, and CMYK of 16 bits.
static bool needs_conversion(TIFFImage *self) {
  uint16_t format = SAMPLEFORMAT_UINT, bits = 8, photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetField(self->tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  self->isFloat = format == SAMPLEFORMAT_IEEEFP;
  if (self->isFloat || format != SAMPLEFORMAT_UINT) return self->isFloat;
  return bits == 12 || (bits == 16 && photometric == PHOTOMETRIC_SEPARATED);
}

/// Describes samples that libtiff does not convert.
static DecodeStatus begin_samples(TIFFImage *self, DecodeText *text) {
  TIFFRGBAImage *reader = &self->reader;
  uint16_t planes = PLANARCONFIG_CONTIG, count = 0, *types = NULL;
  TIFFGetField(self->tiff, TIFFTAG_IMAGEWIDTH, &reader->width);
  TIFFGetField(self->tiff, TIFFTAG_IMAGELENGTH, &reader->height);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_BITSPERSAMPLE, &reader->bitspersample);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_SAMPLESPERPIXEL, &reader->samplesperpixel);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_PLANARCONFIG, &planes);
  TIFFGetField(self->tiff, TIFFTAG_PHOTOMETRIC, &reader->photometric);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  reader->isContig = planes == PLANARCONFIG_CONTIG || reader->samplesperpixel == 1;
  self->isPremultiplied = count > 0 && types[0] == EXTRASAMPLE_ASSOCALPHA;
  // Colors are divided by alpha, and computed from inks, while a whole pixel is at hand. White that is 0 is not light.
  bool isPossible = reader->isContig || !(self->isPremultiplied || reader->photometric == PHOTOMETRIC_SEPARATED);
  if (self->isFloat && reader->photometric == PHOTOMETRIC_MINISWHITE) isPossible = false;
  if (isPossible && has_plain_samples(self)) return DecodeStatusOK;
  const char *kind = self->isFloat ? "floating-point " : "";
  return fail(DecodeStatusUnsupported, text, "%ssamples of this kind are not supported", kind);
}

static DecodeStatus begin(TIFFImage *self, DecodeText *text) {
  char message[1024] = "";
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_COMPRESSION, &compression);
  if (!TIFFIsCODECConfigured(compression)) {
    return fail(DecodeStatusUnsupported, text, "compression scheme %u is not supported", compression);
  }
  if (needs_conversion(self)) return begin_samples(self, text);
  if (!TIFFRGBAImageOK(self->tiff, message)) return fail(DecodeStatusUnsupported, text, "%s", message);
  keep_colors(self);
  self->hasReader = TIFFRGBAImageBegin(&self->reader, self->tiff, 1, message) != 0;
  if (!self->hasReader) return fail(DecodeStatusUnsupported, text, "%s", message);
  // Rows come as they are stored.
  self->reader.orientation = self->reader.req_orientation = ORIENTATION_TOPLEFT;
  return DecodeStatusOK;
}

bool is_gray(const TIFFImage *self) {
  uint16_t photometric = self->reader.photometric;
  return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
}

uint32_t color_count(const TIFFImage *self) { return is_gray(self) ? 1 : 3; }

/// Returns the channels of the pixels. Extra samples of an unspecified kind are not alpha, though libtiff takes them
/// for it.
static uint32_t channels_of(const TIFFImage *self) {
  uint16_t count = 0, *types = NULL;
  uint32_t colors = color_count(self);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  bool hasAlpha = count != 0 && types[0] != EXTRASAMPLE_UNSPECIFIED && self->reader.samplesperpixel > colors;
  bool isRead = self->hasPlainSamples || self->reader.photometric == PHOTOMETRIC_RGB;
  return hasAlpha && isRead ? colors + 1 : colors;
}

/// Returns the size of the ICC profile that fits the pixels, or 0. Sets `bytes`.
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
      return accepted_profile(count, text);
    default:
      // libtiff converts these colors to RGB, which the profile does not describe.
      add_warning(text, "the colors are approximate, because the ICC profile is not used");
      return 0;
  }
}

/// Reads what the header declares, and decides how to decode the pixels.
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
  self->hasPlainSamples = has_plain_samples(self);
  header->orientation = orientation;
  header->channels = self->channels = channels_of(self);
  header->profileCount = find_profile(self, &profile, text);
  self->isLinear = header->profileCount == 0;
  return DecodeStatusOK;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  TIFFImage *self = *image = calloc(1, sizeof *self);
  if (self == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  self->memory = (TIFFMemory){.source = *source, .text = text};
  self->hasPage = true;
  if (!open_page(self, "rm") || (has_plain_tiles(self->tiff) && !open_page(self, "r"))) {
    if (!self->hasPage) return fail(DecodeStatusNoPage, text, "there is no page %u", source->page);
    return explain(&self->memory, NULL);
  }
  DecodeStatus status = read_header(self, header, text);
  if (status == DecodeStatusOK) forgive(text);
  return status;
}

static void copy_profile(Image image, uint8_t *bytes) {
  TIFFImage *self = image;
  const void *profile = NULL;
  DecodeText text = {0};
  self->memory.text = &text;
  uint32_t count = find_profile(self, &profile, &text);
  if (count != 0) memcpy(bytes, profile, count);
}

// MARK: Pixels

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  TIFFImage *self = image;
  self->memory.text = text;
  self->memory.isShort = false;
  target->rowCount = 0;
  bool hasMemory = self->hasPlainSamples ? decode_samples(self, target) : decode_raster(self, target);
  if (!hasMemory) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  size_t count = (size_t)target->width * target->rowCount;
  bool isMultiplied = self->isPremultiplied && !self->isFloat;
  if (isMultiplied && self->channels == 4) unpremultiply(target->pixels, count);
  if (isMultiplied && self->channels == 2) unpremultiply_gray(target->pixels, count);
  if (target->rowCount < target->height) return explain(&self->memory, self->tiff);
  forgive(text);
  return DecodeStatusOK;
}

// MARK: Format

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
