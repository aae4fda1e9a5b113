#include "png_error.h"

#include <string.h>


/// One file on its way into the caller's buffer.
typedef struct Encoder {
  PNGErrors errors;
  png_structp png;
  png_infop info;
  CImageBitmap bitmap;
  uint8_t *file;
  size_t capacity, written;
} Encoder;

static void append(png_structp png, png_bytep bytes, size_t count) {
  Encoder *encoder = png_get_io_ptr(png);
  if (count > encoder->capacity - encoder->written) {
    encoder->errors.status = CImageStatusLimit;
    png_error(png, "the buffer for the PNG file is too small");
  }
  memcpy(encoder->file + encoder->written, bytes, count);
  encoder->written += count;
}

static void nothing(png_structp png) { (void)png; }

static int color_type(int32_t channels) {
  switch (channels) {
    case 1: return PNG_COLOR_TYPE_GRAY;
    case 2: return PNG_COLOR_TYPE_GRAY_ALPHA;
    case 3: return PNG_COLOR_TYPE_RGB;
    default: return PNG_COLOR_TYPE_RGB_ALPHA;
  }
}

/// The only frame a jump lands in; everything it needs afterwards lives in `encoder`.
static CImageStatus encode(Encoder *encoder) {
  const CImageBitmap *bitmap = &encoder->bitmap;
  if (setjmp(encoder->errors.jump)) return encoder->errors.status;
  png_set_write_fn(encoder->png, encoder, append, nothing);
  png_set_IHDR(encoder->png, encoder->info, (png_uint_32)bitmap->width, (png_uint_32)bitmap->height, 8,
               color_type(bitmap->channels), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
  // Against zlib's usual level 6: about 2 % larger, and four times faster at 256 pixels.
  png_set_compression_level(encoder->png, 4);
  png_write_info(encoder->png, encoder->info);
  for (int32_t y = 0; y < bitmap->height; y++) {
    png_write_row(encoder->png, bitmap->pixels + (size_t)y * bitmap->stride);
  }
  png_write_end(encoder->png, NULL);
  return CImageStatusOK;
}

CImageStatus cimage_png_encode(CImageBitmap bitmap, uint8_t *file, size_t capacity, size_t *written,
                               CImageMessages *messages) {
  Encoder encoder;
  memset(&encoder, 0, sizeof encoder);
  encoder.errors.messages = messages;
  encoder.bitmap = bitmap;
  encoder.file = file;
  encoder.capacity = capacity;
  *written = 0;
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder.errors, cimage_png_error, cimage_png_warning);
  encoder.info = encoder.png != NULL ? png_create_info_struct(encoder.png) : NULL;
  CImageStatus status = CImageStatusOutOfMemory;
  if (encoder.info != NULL) status = encode(&encoder);
  png_destroy_write_struct(&encoder.png, &encoder.info);
  *written = encoder.written;
  return status;
}
