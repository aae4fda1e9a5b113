// Decodes arbitrary bytes as PNG, encodes and resizes the result, and checks that encoding is lossless.

#define _GNU_SOURCE  // memmem
#include <stdlib.h>
#include <string.h>

#include "CImage.h"

enum { maxPixels = 1 << 18 };

static uint32_t number(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static CImageBitmap bitmap_of(int32_t width, int32_t height, int32_t channels) {
  CImageBitmap bitmap = {NULL, width, height, channels, (size_t)width * (size_t)channels};
  bitmap.pixels = malloc(bitmap.stride * (size_t)height);
  return bitmap;
}

static int same(CImageBitmap a, CImageBitmap b) { return memcmp(a.pixels, b.pixels, a.stride * (size_t)a.height) == 0; }

/// Returns the number of channels to decode an encoded file with.
static int32_t channels_of(const uint8_t *file, size_t count) {
  static const int32_t channels[7] = {1, 0, 3, 3, 2, 0, 4};
  return channels[file[25]] + (file[25] == 3 && memmem(file, count, "tRNS", 4) != NULL);
}

static void encode_and_compare(CImageBitmap bitmap) {
  CImageMessages messages = {0};
  CImageProfileRoom room = {0};
  size_t capacity = cimage_encoded_bound(bitmap), written;
  uint8_t *file = malloc(capacity);
  if (cimage_png_encode(bitmap, file, capacity, &written, &messages) != CImageStatusOK) abort();
  CImageBitmap again = bitmap_of(bitmap.width, bitmap.height, channels_of(file, written));
  if (cimage_png_decode(file, written, again, &room, &messages) != CImageStatusOK) abort();
  if (again.channels == bitmap.channels && !same(bitmap, again)) abort();
  free(again.pixels);
  free(file);
}

static void resize(CImageBitmap bitmap, uint8_t choice) {
  CImageBitmap target = bitmap_of(1 + choice % 40, 1 + choice / 8, bitmap.channels);
  CImageFilter filter = (CImageFilter)(choice / 2 % 4);
  CImageKernel *across = cimage_kernel_create(filter, bitmap.width, 0, bitmap.width, target.width);
  CImageKernel *down = cimage_kernel_create(filter, bitmap.height, 0, bitmap.height, target.height);
  if (choice & 1) cimage_resize_linear(bitmap, across, down, target);
  else cimage_resize(bitmap, across, down, target);
  cimage_kernel_destroy(across);
  cimage_kernel_destroy(down);
  free(target.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  if (count < 34 || memcmp(bytes + 12, "IHDR", 4) != 0) return 0;
  uint32_t width = number(bytes + 16), height = number(bytes + 20);
  if (width == 0 || height == 0 || width > maxPixels || height > maxPixels) return 0;
  if (width * (uint64_t)height > maxPixels) return 0;
  static const int32_t channels[7] = {1, 0, 3, 3, 2, 0, 4};
  if (bytes[25] > 6 || channels[bytes[25]] == 0) return 0;
  int32_t plain = channels[bytes[25]], clear = plain % 2 == 1 && memmem(bytes, count, "tRNS", 4) != NULL;
  CImageBitmap bitmap = bitmap_of((int32_t)width, (int32_t)height, plain + clear);
  uint8_t profile[4096];
  CImageProfileRoom room = {profile, sizeof profile, 0};
  CImageMessages messages = {0};
  if (cimage_png_decode(bytes, count, bitmap, &room, &messages) == CImageStatusOK) {
    encode_and_compare(bitmap);
    resize(bitmap, bytes[count - 1]);
  }
  free(bitmap.pixels);
  return 0;
}
