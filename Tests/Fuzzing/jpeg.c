// Decodes arbitrary bytes as JPEG with every shrink factor, into pixels and into planes, and encodes the results.

#include <stdlib.h>
#include <string.h>

#include "CImage.h"

enum { maxPixels = 1 << 17 };

/// Reads the width and height of the first frame. Returns its number of components; 0 if there is no frame.
static int read_frame(const uint8_t *bytes, size_t count, int32_t *width, int32_t *height) {
  for (size_t i = 2; i + 10 < count; i++) {
    if (bytes[i] == 0xFF && bytes[i + 1] >= 0xC0 && bytes[i + 1] <= 0xCF && bytes[i + 1] != 0xC4 &&
        bytes[i + 1] != 0xC8 && bytes[i + 1] != 0xCC) {
      *height = bytes[i + 5] << 8 | bytes[i + 6];
      *width = bytes[i + 7] << 8 | bytes[i + 8];
      return bytes[i + 9];
    }
  }
  return 0;
}

/// Encodes decoded planes, which must succeed.
static void encode_planes(const CImagePlane planes[3]) {
  CImageBitmap views[3] = {planes[0].samples, planes[1].samples, planes[2].samples};
  // The encoder needs chroma planes of half the size.
  views[0].width = views[0].width / 2 * 2;
  views[0].height = views[0].height / 2 * 2;
  for (int i = 1; i < 3; i++) {
    if (views[i].width < views[0].width / 2 || views[i].height < views[0].height / 2) return;
    views[i].width = views[0].width / 2;
    views[i].height = views[0].height / 2;
  }
  if (views[0].width == 0 || views[0].height == 0) return;
  size_t capacity = 3 * cimage_encoded_bound(views[0]), written;
  uint8_t *file = malloc(capacity);
  CImageMessages messages = {0};
  CImageJPEGEncoding encoding = {.quality = 82, .chromaStep = 2, .scans = CImageJPEGScansBaseline};
  if (cimage_jpeg_encode_planes(views, encoding, file, capacity, &written, &messages) != CImageStatusOK) abort();
  free(file);
}

static void decode_planes(const uint8_t *bytes, size_t count, CImageJPEGDecoding options) {
  uint8_t *room = malloc(cimage_jpeg_planes_bound(options));
  CImagePlane planes[3];
  CImageMessages messages = {0};
  CImageStatus status = cimage_jpeg_decode_planes(bytes, count, options, room, planes, &messages);
  if (status == CImageStatusOK) encode_planes(planes);
  free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  int32_t width = 0, height = 0;
  int components = read_frame(bytes, count, &width, &height);
  if (components == 0 || width == 0 || height == 0 || (int64_t)width * height > maxPixels) return 0;
  int32_t channels = components == 1 ? 1 : 3;
  for (int32_t shrink = 1; shrink <= 8; shrink *= 2) {
    CImageBitmap bitmap = {NULL, (width + shrink - 1) / shrink, (height + shrink - 1) / shrink, channels, 0};
    bitmap.stride = (size_t)bitmap.width * (size_t)channels;
    bitmap.pixels = malloc(bitmap.stride * (size_t)bitmap.height);
    CImageMessages messages = {0};
    CImageJPEGDecoding options = {
        .width = width, .height = height, .shrink = shrink, .maxScans = 20, .maxMemory = 64 << 20};
    CImageTransform *inks = NULL;
    if (components == 4) cimage_transform_create(bytes, count, CImageColorModelCMYK, &inks, &messages);
    options.cmyk = inks;
    if (cimage_jpeg_decode(bytes, count, options, bitmap, &messages) == CImageStatusOK && shrink == 8) {
      // Encoding decoded pixels must succeed.
      size_t capacity = cimage_encoded_bound(bitmap), written;
      uint8_t *file = malloc(capacity);
      CImageJPEGEncoding encoding = {.quality = 82, .chromaStep = 2, .scans = CImageJPEGScansProgressive};
      if (cimage_jpeg_encode(bitmap, encoding, file, capacity, &written, &messages) != CImageStatusOK) abort();
      free(file);
    }
    cimage_transform_destroy(inks);
    free(bitmap.pixels);
    decode_planes(bytes, count, options);
  }
  return 0;
}
