#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../messages.h"
#include "error.h"

// Limits on chunks. Ordinary files of any size have few and short ones; these stop files made to exhaust memory.
enum { maxChunkBytes = 8 << 20, maxKeptChunks = 128 };

/// The maximum number of compressed bytes read after the last row. Valid files have a 4-byte checksum there, and libpng
/// reads up to 8 KiB at once. Without a limit, libpng would inflate everything that follows, up to a thousandfold.
enum { maxTail = 16 << 10 };

/// The state of decoding one file into the caller's bitmap. Lives in the frame above the one that calls setjmp.
typedef struct Decoder {
  PNGErrors errors;
  png_structp png;
  png_infop info;
  const uint8_t *next;
  size_t left;
  CImageBitmap bitmap;
  CImageProfileRoom *profile;
  /// The number of bytes that may still be read.
  size_t budget;
  /// True while the last row is read.
  bool isLast;
  /// True if all rows are read. Later errors do not affect the image.
  bool complete;
} Decoder;

static void take(png_structp png, png_bytep bytes, size_t count) {
  Decoder *self = png_get_io_ptr(png);
  if (count > self->budget) {
    // The budget is limited only once the last row is decoded, so all rows are in the bitmap.
    self->complete = true;
    png_error(png, "the PNG file's image data continues after its last row");
  }
  self->budget -= count;
  if (count > self->left) {
    self->errors.status = CImageStatusTruncated;
    png_error(png, "the PNG file ends before its image data does");
  }
  memcpy(bytes, self->next, count);
  self->next += count;
  self->left -= count;
}

static void set_limits(Decoder *self) {
  png_set_user_limits(self->png, (png_uint_32)self->bitmap.width, (png_uint_32)self->bitmap.height);
  png_set_chunk_malloc_max(self->png, maxChunkBytes);
  png_set_chunk_cache_max(self->png, maxKeptChunks);
  png_set_benign_errors(self->png, 1);
  // Unused chunks are skipped, because libpng would allocate as much memory as they claim to need.
  static const png_byte idle[] = "bKGD\0eXIf\0hIST\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0tEXt\0tIME\0zTXt";
  png_set_keep_unknown_chunks(self->png, PNG_HANDLE_CHUNK_NEVER, idle, sizeof idle / 5);
}

static void copy_profile(Decoder *self) {
  png_charp name;
  png_bytep bytes;
  png_uint_32 count;
  int compression;
  if (self->profile->bytes == NULL ||
      !png_get_iCCP(self->png, self->info, &name, &compression, &bytes, &count)) {
    return;
  }
  if (count > self->profile->capacity) {
    cimage_add_warning(self->errors.messages, "ICC profile ignored: it is too large");
    return;
  }
  memcpy(self->profile->bytes, bytes, count);
  self->profile->count = count;
}

/// Applies a gAMA chunk, unless an sRGB or iCCP chunk overrides it (PNG Specification, 4.3).
static void apply_gamma(Decoder *self) {
  double gamma;
  if (png_get_valid(self->png, self->info, PNG_INFO_sRGB | PNG_INFO_iCCP) ||
      !png_get_gAMA(self->png, self->info, &gamma) || gamma < 0.1 || gamma > 10) {
    return;
  }
  png_set_gamma(self->png, PNG_DEFAULT_sRGB, gamma);
}

/// Limits the remaining bytes once the last row is decoded. libpng calls it after inflating and unfiltering a row;
/// bytes it reads between this call and the return of the last row come after that row.
static void watch_rows(png_structp png, png_row_infop info, png_bytep row) {
  (void)info;
  (void)row;
  Decoder *self = png_get_user_transform_ptr(png);
  if (self->isLast) self->budget = maxTail;
}

/// Configures libpng to output the channels of the caller's bitmap, and fails if the header differs from the one the
/// caller read.
static void choose_output(Decoder *self) {
  png_byte color = png_get_color_type(self->png, self->info);
  bool transparent = png_get_valid(self->png, self->info, PNG_INFO_tRNS) != 0;
  png_set_expand(self->png);
  png_set_scale_16(self->png);
  apply_gamma(self);
  int channels = self->bitmap.channels;
  bool alpha = (color & PNG_COLOR_MASK_ALPHA) || transparent;
  if ((channels == 2 || channels == 4) && !alpha) png_set_add_alpha(self->png, 0xFF, PNG_FILLER_AFTER);
  png_set_read_user_transform_fn(self->png, watch_rows);
  png_set_user_transform_info(self->png, self, 0, 0);
  png_set_interlace_handling(self->png);
  png_read_update_info(self->png, self->info);
  if (png_get_image_width(self->png, self->info) != (png_uint_32)self->bitmap.width ||
      png_get_image_height(self->png, self->info) != (png_uint_32)self->bitmap.height ||
      png_get_channels(self->png, self->info) != channels || png_get_bit_depth(self->png, self->info) != 8) {
    png_error(self->png, "the PNG file has conflicting headers");
  }
}

static void read_rows(Decoder *self) {
  int passes = png_get_interlace_type(self->png, self->info) == PNG_INTERLACE_NONE ? 1 : PNG_INTERLACE_ADAM7_PASSES;
  for (int pass = 0; pass < passes; pass++) {
    for (int32_t y = 0; y < self->bitmap.height; y++) {
      self->isLast = pass == passes - 1 && y == self->bitmap.height - 1;
      // The last pass of an interlaced file has only the odd rows (counted from 0), so an even row is already complete.
      if (self->isLast && passes > 1 && y % 2 == 0) self->budget = maxTail;
      png_read_row(self->png, self->bitmap.pixels + (size_t)y * self->bitmap.stride, NULL);
    }
  }
}

/// Decodes the file in the frame that error jumps return to. After longjmp, locals of this function that were modified
/// after setjmp are indeterminate (C11, 7.13.2.1), so everything needed afterward is in `self`, which lives in the
/// caller's frame.
static CImageStatus decode(Decoder *self) {
  if (setjmp(self->errors.jump)) {
    if (!self->complete) return self->errors.status;
    cimage_add_warning(self->errors.messages, self->errors.messages->error);
    return CImageStatusOK;
  }
  png_set_read_fn(self->png, self, take);
  set_limits(self);
  png_read_info(self->png, self->info);
  copy_profile(self);
  choose_output(self);
  read_rows(self);
  self->complete = true;
  self->budget = SIZE_MAX;
  png_read_end(self->png, NULL);
  return CImageStatusOK;
}

CImageStatus cimage_png_decode(const uint8_t *bytes, size_t count, CImageBitmap bitmap, CImageProfileRoom *profile,
                               CImageMessages *messages) {
  Decoder self;
  memset(&self, 0, sizeof self);
  self.errors.messages = messages;
  self.next = bytes;
  self.left = count;
  self.budget = SIZE_MAX;
  self.bitmap = bitmap;
  self.profile = profile;
  self.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &self.errors, cimage_png_error, cimage_png_warning,
                                      &self.errors, cimage_png_malloc, cimage_png_free);
  self.info = self.png != NULL ? png_create_info_struct(self.png) : NULL;
  CImageStatus status = CImageStatusOutOfMemory;
  if (self.info != NULL) status = decode(&self);
  png_destroy_read_struct(&self.png, &self.info, NULL);
  return status;
}
