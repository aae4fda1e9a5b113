#include <stdlib.h>
#include <string.h>

#include "../messages.h"
#include "../strips.h"
#include "plain.h"
#include "reader.h"

/// The maximum number of compressed bytes read after the last row. Valid files have a 4-byte checksum there, and libpng
/// reads up to 8 KiB at once. Without a limit, libpng would inflate everything that follows, up to a thousandfold.
enum { maxTail = 16 << 10 };

/// The state of decoding one file. Lives in the frame above the one that calls setjmp.
typedef struct Decoder {
  PNGReader reader;
  CImagePNGDecoding options;
  CImageRowSink sink;
  /// Memory for the rows that are not passed on yet, and their number. All rows of an interlaced file are passed on at
  /// the end.
  uint8_t *rows;
  int32_t pending;
  /// True while the last row is read.
  bool isLast;
  bool isInterlaced;
  /// The image data, if libpng does not decode it.
  PlainData plain;
} Decoder;

/// Fails if the size differs from the one the caller read.
static void check_size(const PNGReader *reader, CImagePNGDecoding options) {
  if (png_get_image_width(reader->png, reader->info) != (png_uint_32)options.width ||
      png_get_image_height(reader->png, reader->info) != (png_uint_32)options.height) {
    png_error(reader->png, "the PNG file has conflicting headers");
  }
}

/// Opens the image data if it is plain and needs no conversion by libpng, which has read the length and the type of its
/// first chunk.
static bool open_plain(Decoder *self) {
  PNGReader *reader = &self->reader;
  // libpng ignores a product of the gammas of file and screen that is between 0.95 and 1.05.
  double product = self->options.gamma * 2.2;
  if (product != 0 && (product < 0.96 || product > 1.04) && !reader->isApple) return false;
  return cimage_plain_open(&self->plain, reader->png, reader->info, reader->next - 8, reader->left + 8,
                           self->options.channels, reader->isApple);
}

/// Fails for a file of Apple's variant that `open_plain` has refused, because libpng knows nothing of it.
static void refuse_apple(PNGReader *reader) {
  bool isUsual = png_get_interlace_type(reader->png, reader->info) == PNG_INTERLACE_NONE &&
                 png_get_bit_depth(reader->png, reader->info) == 8;
  if (!cimage_png_has_end(reader)) reader->errors.status = CImageStatusTruncated;
  else if (!isUsual) reader->errors.status = CImageStatusUnsupported;
  png_error(reader->png, "the image data of the PNG file of an iOS package is damaged, too large or unusual");
}

/// Limits the remaining bytes once the last row is decoded. libpng calls it after inflating and unfiltering a row;
/// bytes it reads between this call and the return of the last row come after that row.
static void watch_rows(png_structp png, png_row_infop info, png_bytep row) {
  (void)info;
  (void)row;
  Decoder *self = png_get_user_transform_ptr(png);
  if (self->isLast) self->reader.budget = maxTail;
}

/// Configures libpng to output the channels that the caller expects, and fails if the file has others.
static void choose_output(Decoder *self) {
  png_structp png = self->reader.png;
  png_infop info = self->reader.info;
  int channels = self->options.channels;
  bool hasAlpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
  png_set_expand(png);
  png_set_scale_16(png);
  if (self->options.gamma != 0) png_set_gamma(png, PNG_DEFAULT_sRGB, self->options.gamma);
  if ((channels == 2 || channels == 4) && !hasAlpha) png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
  png_set_read_user_transform_fn(png, watch_rows);
  png_set_user_transform_info(png, self, 0, 0);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_channels(png, info) != channels || png_get_bit_depth(png, info) != 8) {
    png_error(png, "the PNG file has conflicting headers");
  }
}

static size_t row_bytes(const Decoder *self) {
  return (size_t)self->options.width * (size_t)self->options.channels;
}

/// Passes the rows on that are not passed on yet.
static CImageStatus pass_rows(Decoder *self) {
  const CImageBitmap strip = {self->rows, self->options.width, self->pending, self->options.channels, row_bytes(self)};
  self->pending = 0;
  return self->sink.take(self->sink.context, &strip);
}

/// Reads a row. Those of an interlaced file are first filled coarsely, so that a damaged file shows what it has.
static void read_row(Decoder *self, int32_t index) {
  uint8_t *row = self->rows + (size_t)index * row_bytes(self);
  png_read_row(self->reader.png, self->isInterlaced ? NULL : row, self->isInterlaced ? row : NULL);
}

static CImageStatus read_interlaced(Decoder *self) {
  int32_t height = self->options.height;
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
    for (int32_t y = 0; y < height; y++) {
      self->isLast = pass == PNG_INTERLACE_ADAM7_PASSES - 1 && y == height - 1;
      // The last pass has only the odd rows (counted from 0), so an even row is already complete.
      if (self->isLast && y % 2 == 0) self->reader.budget = maxTail;
      read_row(self, y);
      self->pending = height;
    }
  }
  return pass_rows(self);
}

static CImageStatus read_strips(Decoder *self) {
  int32_t height = self->options.height;
  for (int32_t y = 0; y < height; y++) {
    self->isLast = y == height - 1;
    self->pending += 1;
    read_row(self, self->pending - 1);
    if (!self->isLast && self->pending < stripRows) continue;
    CImageStatus status = pass_rows(self);
    if (status != CImageStatusOK) return status;
  }
  return CImageStatusOK;
}

static CImageStatus read_rows(Decoder *self) {
  self->isInterlaced = png_get_interlace_type(self->reader.png, self->reader.info) != PNG_INTERLACE_NONE;
  size_t count = self->isInterlaced ? (size_t)self->options.height : stripRows;
  self->rows = malloc(count * row_bytes(self));
  if (self->rows == NULL) return CImageStatusOutOfMemory;
  // Nothing of another image can show if libpng skips pixels: missing ones are gray, or transparent if there is alpha.
  memset(self->rows, self->options.channels % 2 == 1 ? 128 : 0, count * row_bytes(self));
  return self->isInterlaced ? read_interlaced(self) : read_strips(self);
}

/// Passes on the rows that precede an error. The one that was being read is damaged. Returns the status of the error.
static CImageStatus pass_rest(Decoder *self) {
  if (self->pending > 0 && !self->isInterlaced) self->pending -= 1;
  if (self->pending > 0) pass_rows(self);
  return self->reader.errors.status;
}

/// Decodes the file in the frame that error jumps return to. After longjmp, locals of this function that were modified
/// after setjmp are indeterminate (C11, 7.13.2.1), so everything needed afterward is in `self`, which lives in the
/// caller's frame.
static CImageStatus decode(Decoder *self) {
  PNGReader *reader = &self->reader;
  if (setjmp(reader->errors.jump)) {
    if (!reader->isComplete) return pass_rest(self);
    cimage_add_warning(reader->errors.messages, reader->errors.messages->error);
    return self->pending > 0 ? pass_rows(self) : CImageStatusOK;
  }
  cimage_png_read_header(reader, self->options.width, self->options.height);
  check_size(reader, self->options);
  if (open_plain(self)) return cimage_plain_read(&self->plain, self->sink);
  if (reader->isApple) refuse_apple(reader);
  choose_output(self);
  CImageStatus status = read_rows(self);
  if (status != CImageStatusOK) return status;
  reader->isComplete = true;
  reader->budget = SIZE_MAX;
  png_read_end(reader->png, NULL);
  return CImageStatusOK;
}

CImageStatus cimage_png_decode(const uint8_t *bytes, size_t count, CImagePNGDecoding options, CImageRowSink sink,
                               CImageMessages *messages) {
  Decoder self;
  memset(&self, 0, sizeof self);
  self.options = options;
  self.sink = sink;
  CImageStatus status = CImageStatusOutOfMemory;
  if (cimage_png_open(&self.reader, bytes, count, messages)) status = decode(&self);
  cimage_png_close(&self.reader);
  free(self.rows);
  free(self.plain.rows.bytes);
  return status;
}
