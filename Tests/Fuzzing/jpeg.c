// Decodes arbitrary bytes as JPEG with every shrink factor, into pixels and into planes, as a whole and in part, and
// encodes the results. A part must have the same samples as the whole. Everything is decoded with libjpeg alone, too,
// which must give the same samples and warnings, or the same failure.

#include <stdbool.h>

#include "../../Sources/CImage/jpeg/ordinary.h"
#include "image.h"

enum { maxPixels = 1 << 17 };

/// True while libjpeg decodes everything.
static bool usesLibjpeg;

bool __real_cimage_ordinary_open(OrdinaryDecoder *decoder, j_decompress_ptr cinfo, const uint8_t *end,
                                 size_t leastBytes, ScanLimits limits);

/// Called instead of `cimage_ordinary_open`, because of an option of the linker. Our decoders take short files, too.
bool __wrap_cimage_ordinary_open(OrdinaryDecoder *decoder, j_decompress_ptr cinfo, const uint8_t *end,
                                 size_t leastBytes, ScanLimits limits) {
  (void)leastBytes;
  return !usesLibjpeg && __real_cimage_ordinary_open(decoder, cinfo, end, 0, limits);
}

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

/// A planar image that is being decoded.
typedef struct Planes {
  FuzzImage images[3];
  /// True if only a part is requested.
  bool isCropped;
} Planes;

/// Chooses a part of a side from two bytes of the file.
static void choose(uint8_t first, uint8_t count, int32_t size, int32_t *start, int32_t *end) {
  *start = first % size;
  *end = *start + 1 + count % (size - *start);
}

/// Returns a part of an image that the last bytes of the file choose.
static CImageArea part_of(CImageBitmap bitmap, const uint8_t *end) {
  CImageArea area;
  choose(end[-1], end[-2], bitmap.width, &area.left, &area.right);
  choose(end[-3], end[-4], bitmap.height, &area.top, &area.bottom);
  return area;
}

static const uint8_t *fileEnd;

static CImageStatus begin_planes(void *context, const CImagePlane planes[3]) {
  Planes *self = context;
  for (int i = 0; i < 3; i++) {
    self->images[i] = fuzz_image(planes[i].width, planes[i].height, 1);
    if (self->isCropped) self->images[i].needed = part_of(self->images[i].bitmap, fileEnd);
  }
  return CImageStatusOK;
}

static CImageArea needed_of_plane(void *context, int32_t plane) { return ((Planes *)context)->images[plane].needed; }

static void skip_planes(void *context, const int32_t *counts) {
  for (int i = 0; i < 3; i++) fuzz_skip(&((Planes *)context)->images[i], &counts[i]);
}

static CImageStatus take_planes(void *context, const CImageBitmap *rows) {
  Planes *self = context;
  for (int i = 0; i < 3; i++) fuzz_take(&self->images[i], &rows[i]);
  return CImageStatusOK;
}

/// Encodes decoded planes, which must succeed.
static void encode_planes(const Planes *planes) {
  CImageBitmap views[3];
  for (int i = 0; i < 3; i++) {
    if (planes->images[i].count != planes->images[i].bitmap.height) abort();
    views[i] = planes->images[i].bitmap;
  }
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

static void free_planes(Planes *planes) {
  for (int i = 0; i < 3; i++) free(planes->images[i].bitmap.pixels);
}

/// Stops the program if the planes, whose parts are given, are not the same.
static void compare(const Planes *whole, const Planes *part) {
  for (int i = 0; i < 3; i++) {
    FuzzImage image = part->images[i];
    if (!fuzz_same_area(whole->images[i].bitmap, image.bitmap, image.needed)) abort();
  }
}

static CImageStatus decode_to(Planes *planes, const uint8_t *bytes, size_t count, CImageJPEGDecoding options,
                              CImageMessages *messages) {
  CImagePlaneSink sink = {begin_planes, {planes, needed_of_plane, skip_planes, take_planes}};
  return cimage_jpeg_decode_planes(bytes, count, options, sink, messages);
}

/// Decodes with libjpeg alone, and compares the result.
static void decode_again(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, CImageStatus status,
                         const CImageMessages *messages, const Planes *planes) {
  Planes others = {.isCropped = false};
  CImageMessages otherMessages = {0};
  usesLibjpeg = true;
  if (decode_to(&others, bytes, count, options, &otherMessages) != status) abort();
  usesLibjpeg = false;
  if (strcmp(messages->error, otherMessages.error) != 0) abort();
  if (strcmp(messages->warnings, otherMessages.warnings) != 0) abort();
  if (status == CImageStatusOK) compare(planes, &others);
  free_planes(&others);
}

static void decode_planes(const uint8_t *bytes, size_t count, CImageJPEGDecoding options) {
  Planes whole = {.isCropped = false}, part = {.isCropped = true};
  CImageMessages messages = {0}, partMessages = {0};
  CImageStatus status = decode_to(&whole, bytes, count, options, &messages);
  if (decode_to(&part, bytes, count, options, &partMessages) != status) abort();
  decode_again(bytes, count, options, status, &messages, &whole);
  if (status == CImageStatusOK) {
    encode_planes(&whole);
    compare(&whole, &part);
  }
  free_planes(&whole);
  free_planes(&part);
}

/// Encodes decoded pixels, which must succeed.
static void encode(CImageBitmap bitmap) {
  CImageMessages messages = {0};
  size_t capacity = cimage_encoded_bound(bitmap), written;
  uint8_t *file = malloc(capacity);
  CImageJPEGEncoding encoding = {.quality = 82, .chromaStep = 2, .scans = CImageJPEGScansProgressive};
  if (cimage_jpeg_encode(bitmap, encoding, file, capacity, &written, &messages) != CImageStatusOK) abort();
  free(file);
}

static void decode_pixels(const uint8_t *bytes, size_t count, CImageJPEGDecoding options) {
  int32_t width = (options.width + options.shrink - 1) / options.shrink;
  int32_t height = (options.height + options.shrink - 1) / options.shrink;
  FuzzImage whole = fuzz_image(width, height, options.channels), part = fuzz_image(width, height, options.channels);
  part.needed = part_of(part.bitmap, bytes + count);
  CImageMessages messages = {0};
  CImageStatus status = cimage_jpeg_decode(bytes, count, options, fuzz_sink(&whole), &messages);
  usesLibjpeg = true;
  if (cimage_jpeg_decode(bytes, count, options, fuzz_sink(&part), &messages) != status) abort();
  usesLibjpeg = false;
  if (status == CImageStatusOK) {
    if (whole.count != height || !fuzz_same_area(whole.bitmap, part.bitmap, part.needed)) abort();
    if (options.shrink == 8) encode(whole.bitmap);
  }
  free(whole.bitmap.pixels);
  free(part.bitmap.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  int32_t width = 0, height = 0;
  int components = read_frame(bytes, count, &width, &height);
  if (components == 0 || width == 0 || height == 0 || (int64_t)width * height > maxPixels) return 0;
  fileEnd = bytes + count;
  CImageMessages messages = {0};
  CImageTransform *inks = NULL;
  if (components == 4) cimage_transform_create(bytes, count, CImageColorModelCMYK, CImageTargetSRGB, &inks, &messages);
  for (int32_t shrink = 1; shrink <= 8; shrink *= 2) {
    CImageJPEGDecoding options = {.width = width, .height = height, .channels = components == 1 ? 1 : 3,
                                  .shrink = shrink, .maxScans = 20, .maxMemory = 64 << 20, .cmyk = inks};
    decode_pixels(bytes, count, options);
    decode_planes(bytes, count, options);
  }
  cimage_transform_destroy(inks);
  return 0;
}
