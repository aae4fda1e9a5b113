// Decodes arbitrary bytes as the image data of a WebP file, at full size and scaled. The results must agree.

#include <stdlib.h>
#include <webp/decode.h>

#include "CImage.h"

enum { maxPixels = 1 << 18 };

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
    free(whole.pixels);
    free(part.pixels);
  }
  return 0;
}
