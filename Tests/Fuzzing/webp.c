// Decodes arbitrary bytes as the image data of a WebP file, at full size and scaled. The results must agree. Then
// encodes the pixels and decodes them again.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "CImage.h"

enum { maxPixels = 1 << 18, maxEncodedPixels = 1 << 14 };

static CImageBitmap bitmap_of(int32_t width, int32_t height, int32_t channels) {
  CImageBitmap bitmap = {NULL, width, height, channels, (size_t)width * (size_t)channels};
  bitmap.pixels = malloc(bitmap.stride * (size_t)height);
  return bitmap;
}

static CImageStatus decode(const uint8_t *bytes, size_t count, int32_t width, int32_t height, CImageBitmap bitmap) {
  CImageMessages messages = {0};
  CImageStatus status = cimage_webp_decode(bytes, count, width, height, bitmap, &messages);
  if ((status == CImageStatusOK) != (messages.error[0] == 0) && status != CImageStatusOutOfMemory) abort();
  return status;
}

/// Returns the offset of the image data: behind the RIFF header, and behind an extended header or that of a frame.
static size_t start_of(const uint8_t *bytes, size_t count) {
  for (size_t start = 0; start + 30 < count && start < 256; start += 2) {
    const uint8_t *chunk = bytes + start;
    if (chunk[0] == 'A' && chunk[1] == 'L' && chunk[2] == 'P' && chunk[3] == 'H') return start;
    if (chunk[0] == 'V' && chunk[1] == 'P' && chunk[2] == '8' && chunk[3] != 'X') return start;
  }
  return 0;
}

/// Aborts if a pixel differs visibly. Colors may differ if `isLossy`.
static void compare(CImageBitmap left, CImageBitmap right, bool isLossy) {
  for (size_t i = 0; i < (size_t)left.width * (size_t)left.height; i++) {
    const uint8_t *first = left.pixels + i * (size_t)left.channels, *second = right.pixels + i * (size_t)left.channels;
    if (left.channels == 4 && first[3] != second[3]) abort();
    bool isClear = left.channels == 4 && first[3] == 0;
    if (!isLossy && !isClear && memcmp(first, second, (size_t)left.channels) != 0) abort();
  }
}

/// Encodes the pixels. The file must be whole, and decode to the same pixels.
static void encode(CImageBitmap bitmap, float quality, bool isLossless) {
  if (bitmap.width * bitmap.height > maxEncodedPixels) return;
  size_t capacity = cimage_encoded_bound(bitmap), count = 0;
  uint8_t *file = malloc(capacity);
  CImageMessages messages = {0};
  CImageWebPEncoding options = {quality, isLossless};
  if (cimage_webp_encode(bitmap, options, file, capacity, &count, &messages) != CImageStatusOK) abort();
  if (count < 30 || count % 2 != 0 || memcmp(file + 12, "VP8X", 4) != 0) abort();
  if ((file[4] | file[5] << 8 | file[6] << 16) + 8 != (int)count) abort();
  CImageBitmap again = bitmap_of(bitmap.width, bitmap.height, bitmap.channels);
  if (decode(file + 30, count - 30, bitmap.width, bitmap.height, again) != CImageStatusOK) abort();
  compare(bitmap, again, !isLossless);
  // A smaller buffer must not be exceeded, which the sanitizer checks.
  uint8_t *part = malloc(count - 1);
  if (cimage_webp_encode(bitmap, options, part, count - 1, &count, &messages) == CImageStatusOK) abort();
  free(part);
  free(again.pixels);
  free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  size_t start = start_of(bytes, count);
  bytes += start;
  count -= start;
  WebPBitstreamFeatures features;
  if (count == 0 || WebPGetFeatures(bytes, count, &features) != VP8_STATUS_OK) return 0;
  int32_t width = features.width, height = features.height;
  if ((int64_t)width * height > maxPixels) return 0;
  for (int32_t channels = 3; channels <= 4; channels++) {
    int32_t shrink = 1 + bytes[count - 1] % 5;
    CImageBitmap whole = bitmap_of(width, height, channels);
    CImageBitmap part = bitmap_of((width + shrink - 1) / shrink, (height + shrink - 1) / shrink, channels);
    CImageStatus status = decode(bytes, count, width, height, whole);
    if (decode(bytes, count, width, height, part) != status) abort();
    if (decode(bytes, count, width + 1, height, whole) == CImageStatusOK) abort();
    if (status == CImageStatusOK) {
      encode(whole, (float)(bytes[count / 2] % 101), false);
      encode(whole, 0, true);
    }
    free(whole.pixels);
    free(part.pixels);
  }
  return 0;
}
