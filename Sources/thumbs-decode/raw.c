// Decodes the largest JPEG preview of camera raw files. LibRaw finds it, and libjpeg decodes it. NULL without them.
//
// The raw samples are not developed: that takes seconds, and gives other colors than the camera's.

#include "formats.h"

#if __has_include(<libraw/libraw.h>) && __has_include(<jpeglib.h>)

#include <libraw/libraw.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// It uses `size_t` and `FILE` without declaring them.
#include <jpeglib.h>

#include <jerror.h>

/// The errors of libjpeg, which it reports by `longjmp`.
typedef struct JPEGErrors {
  /// First, so that libjpeg's pointer to it is a pointer to this.
  struct jpeg_error_mgr manager;
  jmp_buf jump;
  DecodeText *text;
  /// True if bytes were missing, or wrong.
  bool isShort, isDamaged;
} JPEGErrors;

/// An open file.
typedef struct Raw {
  Source source;
  libraw_data_t *file;
  struct jpeg_decompress_struct jpeg;
  JPEGErrors errors;
  bool hasDecoder;
  /// The preview.
  const uint8_t *bytes;
  size_t count;
  /// The ICC profile, and the bytes of it that the header declares.
  JOCTET *profile;
  uint32_t profileCount;
} Raw;

static const char *library(void) {
  static char name[64];
  const char *version = libraw_version();
  snprintf(name, sizeof name, "LibRaw %.*s", (int)strcspn(version, "-"), version);
  return name;
}

// MARK: Errors

static DecodeStatus explain(int code, DecodeText *text) {
  switch (code) {
    case LIBRAW_UNSUFFICIENT_MEMORY: return fail(DecodeStatusOutOfMemory, text, "out of memory");
    case LIBRAW_TOO_BIG: return fail(DecodeStatusLimit, text, "the raw image is too large");
    case LIBRAW_IO_ERROR: return fail(DecodeStatusTruncated, text, "the file ends before its preview does");
    case LIBRAW_NO_THUMBNAIL:
    case LIBRAW_UNSUPPORTED_THUMBNAIL:
      return fail(DecodeStatusUnsupported, text, "the raw file has no JPEG preview");
    case LIBRAW_FILE_UNSUPPORTED:
      return fail(DecodeStatusUnsupported, text, "LibRaw does not recognize the raw file");
    default: return fail(DecodeStatusCorrupt, text, "invalid raw file: %s", libraw_strerror(code));
  }
}

static void exit_decoder(j_common_ptr jpeg) {
  JPEGErrors *errors = (JPEGErrors *)jpeg->err;
  char message[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, message);
  fail(DecodeStatusCorrupt, errors->text, "the preview is damaged: %s", message);
  longjmp(errors->jump, 1);
}

static void emit_message(j_common_ptr jpeg, int level) {
  JPEGErrors *errors = (JPEGErrors *)jpeg->err;
  if (level >= 0) return;  // A trace, not a warning.
  if (jpeg->err->msg_code == JWRN_JPEG_EOF) errors->isShort = true;
  if (jpeg->err->msg_code == JWRN_HIT_MARKER || jpeg->err->msg_code == JWRN_HUFF_BAD_CODE) errors->isDamaged = true;
}

static void output_message(j_common_ptr jpeg) { (void)jpeg; }

/// Returns the status after an error of libjpeg.
static DecodeStatus status_of(const Raw *self) {
  int code = self->errors.manager.msg_code;
  if (code == JERR_OUT_OF_MEMORY) return DecodeStatusOutOfMemory;
  bool isCut = self->errors.isShort || code == JERR_INPUT_EOF || code == JERR_INPUT_EMPTY;
  return isCut ? DecodeStatusTruncated : DecodeStatusCorrupt;
}

// MARK: Preview

/// Makes LibRaw read the largest JPEG preview. Before version 0.21, it lists only what it has chosen itself.
static int unpack_preview(libraw_data_t *file) {
#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)
  uint64_t largest = 0;
  int best = -1;
  for (int i = 0; i < file->thumbs_list.thumbcount; i++) {
    const libraw_thumbnail_item_t *item = &file->thumbs_list.thumblist[i];
    uint64_t area = (uint64_t)item->twidth * item->theight;
    if (item->tformat != LIBRAW_INTERNAL_THUMBNAIL_JPEG || (best >= 0 && area <= largest)) continue;
    best = i;
    largest = area;
  }
  if (best >= 0) return libraw_unpack_thumb_ex(file, best);
#endif
  return libraw_unpack_thumb(file);
}

/// Finds the preview in the file itself, by the bytes after its start marker. LibRaw's copy has uninitialized bytes
/// where the file has ended.
static void find_preview(Raw *self) {
  enum { markerCount = 2, sampleCount = 256 };
  const libraw_thumbnail_t *copy = &self->file->thumbnail;
  const uint8_t *thumb = (const uint8_t *)copy->thumb;
  const Source *source = &self->source;
  self->bytes = thumb;
  self->count = copy->tlength;
  if (copy->tlength < markerCount + sampleCount) return;
  const uint8_t *found = memmem(source->bytes, source->count, thumb + markerCount, sampleCount);
  if (found == NULL || found - source->bytes < markerCount) return;
  size_t left = source->count - (size_t)(found - markerCount - source->bytes);
  self->bytes = found - markerCount;
  if (self->count > left) self->count = left;
}

static DecodeStatus open_preview(Raw *self, DecodeText *text) {
  // A callback of LibRaw would print errors. The constant has a typo in old versions.
  enum { hasNoDataCallback = 1 << 1 };
  self->file = libraw_init(hasNoDataCallback);
  if (self->file == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  int code = libraw_open_buffer(self->file, (void *)(uintptr_t)self->source.bytes, self->source.count);
  if (code == LIBRAW_SUCCESS) code = unpack_preview(self->file);
  if (code != LIBRAW_SUCCESS) return explain(code, text);
  if (self->file->thumbnail.tformat != LIBRAW_THUMBNAIL_JPEG || self->file->thumbnail.thumb == NULL) {
    return explain(LIBRAW_NO_THUMBNAIL, text);
  }
  find_preview(self);
  return DecodeStatusOK;
}

// MARK: Orientation

static uint32_t number_at(const uint8_t *bytes, uint32_t size, bool isLittle) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < size; i++) number = number << 8 | bytes[isLittle ? size - 1 - i : i];
  return number;
}

/// Returns the orientation in a block of Exif, which has the form of a TIFF file; 0 if it has none.
static uint32_t exif_orientation(const uint8_t *bytes, size_t count) {
  if (count < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) return 0;
  bool isLittle = bytes[0] == 'I';
  size_t start = number_at(bytes + 4, 4, isLittle);
  if (start > count - 2) return 0;
  size_t left = (count - start - 2) / 12, entries = number_at(bytes + start, 2, isLittle);
  for (size_t i = 0; i < entries && i < left; i++) {
    const uint8_t *entry = bytes + start + 2 + 12 * i;
    if (number_at(entry, 2, isLittle) == 0x112) return number_at(entry + 8, 2, isLittle);
  }
  return 0;
}

/// Returns the orientation of the preview: its own, or that of the raw image, unless the preview is turned already.
static uint32_t orientation_of(const Raw *self) {
  static const uint8_t orientations[] = {1, 2, 4, 3, 5, 8, 6, 7};
  enum { exifCount = 6, swapsAxes = 4 };
  for (jpeg_saved_marker_ptr marker = self->jpeg.marker_list; marker != NULL; marker = marker->next) {
    if (marker->marker != JPEG_APP0 + 1 || marker->data_length < exifCount) continue;
    if (memcmp(marker->data, "Exif\0", exifCount) != 0) continue;
    uint32_t own = exif_orientation(marker->data + exifCount, marker->data_length - exifCount);
    if (own >= 1 && own <= 8) return own;
  }
  const libraw_image_sizes_t *sizes = &self->file->sizes;
  bool isTurned = self->jpeg.image_width < self->jpeg.image_height && sizes->width > sizes->height;
  if ((sizes->flip & swapsAxes) != 0 && isTurned) return 1;
  return orientations[sizes->flip & 7];
}

// MARK: JPEG

static void start_decoder(Raw *self) {
  self->jpeg.err = jpeg_std_error(&self->errors.manager);
  self->errors.manager.error_exit = exit_decoder;
  self->errors.manager.emit_message = emit_message;
  self->errors.manager.output_message = output_message;
  jpeg_create_decompress(&self->jpeg);
  self->hasDecoder = true;
  jpeg_save_markers(&self->jpeg, JPEG_APP0 + 1, 0xFFFF);
  jpeg_save_markers(&self->jpeg, JPEG_APP0 + 2, 0xFFFF);
  jpeg_mem_src(&self->jpeg, (unsigned char *)(uintptr_t)self->bytes, (unsigned long)self->count);
}

static void read_profile(Raw *self, DecodeHeader *header) {
#if defined(LIBJPEG_TURBO_VERSION_NUMBER) && LIBJPEG_TURBO_VERSION_NUMBER >= 2000000
  unsigned count = 0;
  if (!jpeg_read_icc_profile(&self->jpeg, &self->profile, &count)) return;
  header->profileCount = self->profileCount = accepted_profile(count, self->errors.text);
#else
  (void)self, (void)header;
#endif
}

static DecodeStatus read_header(Raw *self, DecodeHeader *header) {
  // Smaller ones are made for the display of the camera, and would be enlarged.
  enum { leastSide = 256 };
  DecodeStatus status = DecodeStatusOK;
  DecodeText *text = self->errors.text;
  if (setjmp(self->errors.jump) != 0) return status_of(self);
  start_decoder(self);
  jpeg_read_header(&self->jpeg, TRUE);
  header->width = self->jpeg.image_width;
  header->height = self->jpeg.image_height;
  if (!check_size(header->width, header->height, &self->source.limits, &status, text)) return status;
  if (header->width < leastSide && header->height < leastSide) {
    return fail(DecodeStatusUnsupported, text, "the largest preview of the raw file has only %ux%u pixels",
                header->width, header->height);
  }
  if (self->jpeg.num_components == 4) return fail(DecodeStatusUnsupported, text, "the preview has CMYK colors");
  header->channels = self->jpeg.num_components == 1 ? 1 : 3;
  header->orientation = orientation_of(self);
  read_profile(self, header);
  return DecodeStatusOK;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  Raw *self = *image = calloc(1, sizeof *self);
  if (self == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  self->source = *source;
  self->errors.text = text;
  DecodeStatus status = open_preview(self, text);
  return status == DecodeStatusOK ? read_header(self, header) : status;
}

static void copy_profile(Image image, uint8_t *bytes) {
  const Raw *self = image;
  memcpy(bytes, self->profile, self->profileCount);
}

/// Decodes all rows. What libjpeg makes up for missing bytes is not complete.
static void decode_rows(Raw *self, Target *target) {
  size_t rowBytes = (size_t)target->width * target->channels;
  self->jpeg.out_color_space = target->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&self->jpeg);
  while (self->jpeg.output_scanline < target->height) {
    JSAMPROW row = target->pixels + self->jpeg.output_scanline * rowBytes;
    jpeg_read_scanlines(&self->jpeg, &row, 1);
    if (!self->errors.isShort && !self->errors.isDamaged) target->rowCount = self->jpeg.output_scanline;
  }
  // Reads up to the end marker.
  jpeg_finish_decompress(&self->jpeg);
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  Raw *self = image;
  self->errors.text = text;
  target->rowCount = 0;
  if (setjmp(self->errors.jump) != 0) return status_of(self);
  decode_rows(self, target);
  if (self->errors.isShort) return fail(DecodeStatusTruncated, text, "the preview ends before the last pixel");
  return self->errors.isDamaged ? fail(DecodeStatusCorrupt, text, "invalid data in the preview") : DecodeStatusOK;
}

static void close_image(Image image) {
  Raw *self = image;
  if (self == NULL) return;
  if (self->hasDecoder) jpeg_destroy_decompress(&self->jpeg);
  if (self->file != NULL) libraw_close(self->file);
  free(self->profile);
  free(self);
}

static const Format format = {
    .id = DecodeFormatRaw,
    .library = library,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = close_image,
};

const Format *const decode_raw = &format;

#else

const Format *const decode_raw = NULL;

#endif
