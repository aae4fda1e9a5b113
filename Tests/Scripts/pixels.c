// Decodes, resizes and encodes each file, and prints a hash of every result, to compare processors.
//
//   pixels FILE...

#include <stdbool.h>
#include <stdio.h>

#include "../Fuzzing/image.h"

static uint64_t hash(const uint8_t *bytes, size_t count) {
  uint64_t hash = 0xCBF29CE484222325;
  for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 0x100000001B3;
  return hash;
}

static void print(const char *file, const char *result, const uint8_t *bytes, size_t count) {
  printf("%s %s %016llx\n", file, result, (unsigned long long)hash(bytes, count));
}

static void print_pixels(const char *file, const char *result, CImageBitmap bitmap) {
  print(file, result, bitmap.pixels, bitmap.stride * (size_t)bitmap.height);
}

static void encode(const char *file, CImageBitmap bitmap) {
  size_t capacity = cimage_encoded_bound(bitmap), written = 0;
  uint8_t *bytes = malloc(capacity);
  CImageMessages messages = {0};
  if (cimage_png_encode(bitmap, bytes, capacity, &written, &messages) == CImageStatusOK) {
    print(file, "PNG", bytes, written);
  }
  CImageJPEGEncoding options = {.quality = 82, .chromaStep = 2, .scans = CImageJPEGScansProgressive};
  if (bitmap.channels % 2 == 1 &&
      cimage_jpeg_encode(bitmap, options, bytes, capacity, &written, &messages) == CImageStatusOK) {
    print(file, "JPEG", bytes, written);
  }
  free(bytes);
}

static void resize(const char *file, CImageBitmap source) {
  for (int i = 0; i < 8; i++) {
    CImageFilter filter = (CImageFilter)(i / 2);
    FuzzImage target = fuzz_image(33, 21, source.channels);
    CImageKernel *across = cimage_kernel_create(filter, source.width, 0.3, source.width, target.bitmap.width);
    CImageKernel *down = cimage_kernel_create(filter, source.height, 0, source.height, target.bitmap.height);
    CImageScaler *scaler = cimage_scaler_create(across, down, (CImageLight)(i % 2), target.bitmap);
    cimage_scaler_advance(scaler, source, 0);
    print_pixels(file, i % 2 == 0 ? "resized" : "resized light", target.bitmap);
    if (i == 0) encode(file, target.bitmap);
    cimage_scaler_destroy(scaler);
    cimage_kernel_destroy(across);
    cimage_kernel_destroy(down);
    free(target.bitmap.pixels);
  }
}

static int big_endian(const uint8_t *bytes, int count) {
  int number = 0;
  for (int i = 0; i < count; i++) number = number << 8 | bytes[i];
  return number;
}

static void decode_png(const char *file, const uint8_t *bytes, size_t count) {
  static const int channels[7] = {1, 0, 3, 3, 2, 0, 4};
  CImagePNGDecoding options = {big_endian(bytes + 16, 4), big_endian(bytes + 20, 4), channels[bytes[25] % 7], 0};
  if (strstr(file, "trns") != NULL) options.channels += 1;
  FuzzImage image = fuzz_image(options.width, options.height, options.channels);
  CImageMessages messages = {0};
  CImageStatus status = cimage_png_decode(bytes, count, options, fuzz_sink(&image), &messages);
  printf("%s status %d %s\n", file, status, messages.error);
  if (status == CImageStatusOK) {
    print_pixels(file, "decoded", image.bitmap);
    resize(file, image.bitmap);
  }
  free(image.bitmap.pixels);
}

/// Returns true if the segment is that of a frame, not of a Huffman table.
static bool is_frame(const uint8_t *segment) {
  return segment[0] == 0xFF && segment[1] >= 0xC0 && segment[1] <= 0xCA && segment[1] != 0xC4;
}

static void decode_jpeg(const char *file, const uint8_t *bytes, size_t count) {
  size_t i = 2;
  while (i + 10 < count && !is_frame(bytes + i)) i += 2 + (size_t)big_endian(bytes + i + 2, 2);
  if (i + 10 >= count) return;
  CImageJPEGDecoding options = {.width = big_endian(bytes + i + 7, 2), .height = big_endian(bytes + i + 5, 2),
                                .channels = bytes[i + 9] == 1 ? 1 : 3, .maxScans = 50, .maxMemory = 64 << 20};
  for (options.shrink = 1; options.shrink <= 8; options.shrink *= 2) {
    FuzzImage image = fuzz_image((options.width + options.shrink - 1) / options.shrink,
                                 (options.height + options.shrink - 1) / options.shrink, options.channels);
    CImageMessages messages = {0};
    CImageStatus status = cimage_jpeg_decode(bytes, count, options, fuzz_sink(&image), &messages);
    printf("%s status %d %s\n", file, status, messages.error);
    if (status == CImageStatusOK) print_pixels(file, "decoded", image.bitmap);
    if (status == CImageStatusOK && options.shrink == 1) resize(file, image.bitmap);
    free(image.bitmap.pixels);
  }
}

int main(int count, char **names) {
  static uint8_t bytes[8 << 20];
  for (int i = 1; i < count; i++) {
    FILE *file = fopen(names[i], "rb");
    if (file == NULL) return 1;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const char *name = strrchr(names[i], '/') + 1;
    (bytes[0] == 0xFF ? decode_jpeg : decode_png)(name, bytes, size);
  }
  return 0;
}
