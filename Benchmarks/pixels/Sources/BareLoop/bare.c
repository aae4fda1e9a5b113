#include "BareLoop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

/// Computes the size that fits in a square, without enlargement.
static void fit(unsigned width, unsigned height, unsigned side, unsigned *w, unsigned *h) {
  unsigned longer = width > height ? width : height;
  if (longer < side) side = longer;
  *w = (width * side + longer / 2) / longer;
  *h = (height * side + longer / 2) / longer;
  if (*w == 0) *w = 1;
  if (*h == 0) *h = 1;
}

static unsigned char *nearest(const unsigned char *pixels, unsigned width, unsigned height, unsigned channels,
                              unsigned w, unsigned h) {
  unsigned char *small = malloc((size_t)w * h * channels), *out = small;
  for (unsigned y = 0; y < h; y++) {
    const unsigned char *row = pixels + (size_t)((2 * y + 1) * height / (2 * h)) * width * channels;
    for (unsigned x = 0; x < w; x++, out += channels) {
      memcpy(out, row + (size_t)((2 * x + 1) * width / (2 * w)) * channels, channels);
    }
  }
  return small;
}

static size_t encode_jpeg(const unsigned char *pixels, unsigned w, unsigned h, int channels,
                          unsigned char **thumbnail) {
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;
  unsigned long size = 0;
  *thumbnail = NULL;
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_compress(&cinfo);
  jpeg_mem_dest(&cinfo, thumbnail, &size);
  cinfo.image_width = w;
  cinfo.image_height = h;
  cinfo.input_components = channels;
  cinfo.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&cinfo);
  jpeg_set_quality(&cinfo, 82, TRUE);
  jpeg_start_compress(&cinfo, TRUE);
  while (cinfo.next_scanline < h) {
    JSAMPROW row = (JSAMPROW)pixels + (size_t)cinfo.next_scanline * w * (unsigned)channels;
    jpeg_write_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  return size;
}

size_t bare_jpeg(const unsigned char *bytes, size_t count, unsigned side, unsigned char **thumbnail) {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, bytes, count);
  jpeg_read_header(&cinfo, TRUE);
  unsigned w, h, longer = cinfo.image_width > cinfo.image_height ? cinfo.image_width : cinfo.image_height;
  fit(cinfo.image_width, cinfo.image_height, side, &w, &h);
  // Keep at least twice the size, as a real program does for its filter.
  cinfo.scale_num = 1;
  for (cinfo.scale_denom = 8; cinfo.scale_denom > 1 && longer < 2 * cinfo.scale_denom * side;) cinfo.scale_denom /= 2;
  jpeg_start_decompress(&cinfo);
  size_t stride = (size_t)cinfo.output_width * (unsigned)cinfo.output_components;
  unsigned char *pixels = malloc(stride * cinfo.output_height);
  while (cinfo.output_scanline < cinfo.output_height) {
    JSAMPROW row = pixels + cinfo.output_scanline * stride;
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  unsigned char *small =
      nearest(pixels, cinfo.output_width, cinfo.output_height, (unsigned)cinfo.output_components, w, h);
  size_t size = encode_jpeg(small, w, h, cinfo.output_components, thumbnail);
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
  free(pixels);
  free(small);
  return size;
}

typedef struct Buffer {
  unsigned char *bytes;
  size_t count, capacity;
} Buffer;

static void take(png_structp png, png_bytep bytes, size_t count) {
  Buffer *buffer = png_get_io_ptr(png);
  memcpy(bytes, buffer->bytes + buffer->count, count);
  buffer->count += count;
}

static void append(png_structp png, png_bytep bytes, size_t count) {
  Buffer *buffer = png_get_io_ptr(png);
  if (buffer->count + count > buffer->capacity) {
    buffer->capacity = 2 * (buffer->count + count);
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
  }
  memcpy(buffer->bytes + buffer->count, bytes, count);
  buffer->count += count;
}

static void nothing(png_structp png) { (void)png; }

static size_t encode_png(const unsigned char *pixels, unsigned w, unsigned h, unsigned char **thumbnail) {
  Buffer buffer = {0};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &buffer, append, nothing);
  png_set_IHDR(png, info, w, h, 8, PNG_COLOR_TYPE_RGB_ALPHA, 0, 0, 0);
  png_write_info(png, info);
  for (unsigned y = 0; y < h; y++) png_write_row(png, pixels + (size_t)y * w * 4);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  *thumbnail = buffer.bytes;
  return buffer.count;
}

size_t bare_png(const unsigned char *bytes, size_t count, unsigned side, unsigned char **thumbnail) {
  Buffer buffer = {(unsigned char *)bytes, 0, count};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  png_set_read_fn(png, &buffer, take);
  png_read_info(png, info);
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  unsigned width = png_get_image_width(png, info), height = png_get_image_height(png, info), w, h;
  unsigned char *pixels = malloc((size_t)width * height * 4);
  for (int pass = 0; pass < passes; pass++) {
    for (unsigned y = 0; y < height; y++) png_read_row(png, pixels + (size_t)y * width * 4, NULL);
  }
  png_read_end(png, NULL);
  png_destroy_read_struct(&png, &info, NULL);
  fit(width, height, side, &w, &h);
  unsigned char *small = nearest(pixels, width, height, 4, w, h);
  size_t size = encode_png(small, w, h, thumbnail);
  free(pixels);
  free(small);
  return size;
}
