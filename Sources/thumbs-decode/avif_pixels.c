// Decodes the pixels of AVIF files, with libavif.

#if __has_include(<avif/avif.h>)

#include "avif.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/// The depths that AV1 has, and the number of values of the last one.
enum { minDepth = 8, maxDepth = 12, maxValueCount = 1 << maxDepth };

/// Fills a table that converts values from `low` to `low + span` to 8 bits.
static void fill_table(uint8_t *table, uint32_t count, int32_t low, int32_t span) {
  for (int32_t value = 0; value < (int32_t)count; value++) {
    int32_t scaled = ((value - low) * 255 + span / 2) / span;
    table[value] = value < low ? 0 : scaled > 255 ? 255 : (uint8_t)scaled;
  }
}

static uint32_t sample(const uint8_t *row, uint32_t x, uint32_t depth) {
  return depth == 8 ? row[x] : ((const uint16_t *)(const void *)row)[x] & (maxValueCount - 1);
}

/// Converts luma to gray. `avifImageYUVToRGB` would make three channels of it.
static void convert_gray(const avifImage *image, uint8_t *pixels, uint32_t channels) {
  uint8_t grays[maxValueCount] = {0}, alphas[maxValueCount] = {0};
  uint32_t depth = image->depth, count = 1u << depth;
  bool isFull = image->yuvRange == AVIF_RANGE_FULL;
  fill_table(grays, count, isFull ? 0 : 16 << (depth - 8), isFull ? (int32_t)count - 1 : 219 << (depth - 8));
  fill_table(alphas, count, 0, (int32_t)count - 1);
  for (uint32_t y = 0; y < image->height; y++) {
    const uint8_t *luma = image->yuvPlanes[AVIF_CHAN_Y] + (size_t)y * image->yuvRowBytes[AVIF_CHAN_Y];
    const uint8_t *opacity = channels == 2 ? image->alphaPlane + (size_t)y * image->alphaRowBytes : NULL;
    for (uint32_t x = 0; x < image->width; x++) {
      uint32_t gray = grays[sample(luma, x, depth)];
      uint32_t alpha = channels == 2 ? alphas[sample(opacity, x, depth)] : 255;
      if (image->alphaPremultiplied && alpha != 0) gray = (gray * 255 + alpha / 2) / alpha;
      *pixels++ = gray > 255 ? 255 : (uint8_t)gray;
      if (channels == 2) *pixels++ = (uint8_t)alpha;
    }
  }
}

/// Returns true if libyuv, which libavif prefers, lacks the precision. Its factor of blue is at most 2, but the limited
/// range needs 2.11 with the matrix of BT.709 and 2.14 with that of BT.2020. Blue would be wrong by up to 19 of 255.
static bool is_inexact_with_libyuv(const avifImage *image) {
  if (image->yuvRange == AVIF_RANGE_FULL) return false;
  avifMatrixCoefficients matrix = image->matrixCoefficients;
  return matrix != AVIF_MATRIX_COEFFICIENTS_BT601 && matrix != AVIF_MATRIX_COEFFICIENTS_BT470BG &&
    matrix != AVIF_MATRIX_COEFFICIENTS_UNSPECIFIED;
}

/// Converts the whole image to `channels` of 8 bits, with straight alpha.
static DecodeStatus convert(const AVIFFile *file, uint8_t *pixels, DecodeText *text) {
  const avifImage *image = file->decoder->image;
  if (file->channels <= 2) {
    convert_gray(image, pixels, file->channels);
    return DecodeStatusOK;
  }
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.depth = 8;
  rgb.format = file->channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
  rgb.avoidLibYUV = is_inexact_with_libyuv(image);
  // The automatic choice differs by depth: it repeats the chroma of 12-bit images with alpha.
  rgb.chromaUpsampling = AVIF_CHROMA_UPSAMPLING_BILINEAR;
  rgb.pixels = pixels;
  // The size limit of libavif keeps this within 2^30 bytes.
  rgb.rowBytes = image->width * file->channels;
  avifResult result = avifImageYUVToRGB(image, &rgb);
  return result == AVIF_RESULT_OK ? DecodeStatusOK : avif_fail(result, &file->decoder->diag, text);
}

/// Converts the image and copies the crop. An odd border of a subsampled image cannot be cropped before.
static DecodeStatus convert_crop(const AVIFFile *file, uint8_t *pixels, DecodeText *text) {
  const avifImage *image = file->decoder->image;
  const avifCropRect *crop = &file->crop;
  if (crop->width == image->width && crop->height == image->height) return convert(file, pixels, text);
  size_t stride = (size_t)image->width * file->channels, cropStride = (size_t)crop->width * file->channels;
  uint8_t *whole = malloc(stride * image->height);
  if (whole == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  DecodeStatus status = convert(file, whole, text);
  const uint8_t *row = whole + crop->y * stride + (size_t)crop->x * file->channels;
  for (uint32_t y = 0; y < crop->height && status == DecodeStatusOK; y++) {
    memcpy(pixels + y * cropStride, row + y * stride, cropStride);
  }
  free(whole);
  return status;
}

/// Returns true if the decoded image is what the header has declared. AV1 data declares its own size and format.
static bool is_as_declared(const avifImage *image, const AVIFFile *file) {
  bool isGray = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400;
  bool hasAlpha = file->channels == 2 || file->channels == 4;
  return image->width == file->width && image->height == file->height && isGray == (file->channels <= 2) &&
    image->depth >= minDepth && image->depth <= maxDepth && image->yuvPlanes[AVIF_CHAN_Y] != NULL &&
    hasAlpha == (image->alphaPlane != NULL);
}

DecodeStatus avif_decode(Image image, Target *target, DecodeText *text) {
  AVIFFile *file = image;
  avifDecoder *decoder = file->decoder;
  // libavif refuses a larger limit than its own. The AV1 decoder gets this limit, too.
  decoder->imageSizeLimit = file->limits.pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT
    ? (uint32_t)file->limits.pixels : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
  decoder->imageDimensionLimit = file->limits.side;
  errno = 0;
  avifResult result = avifDecoderNthImage(decoder, 0);
  if (result != AVIF_RESULT_OK) return avif_fail(result, &decoder->diag, text);
  if (!is_as_declared(decoder->image, file)) {
    return fail(DecodeStatusCorrupt, text, "the AV1 data contradicts the header");
  }
  DecodeStatus status = convert_crop(file, target->pixels, text);
  if (status == DecodeStatusOK) target->rowCount = target->height;
  return status;
}

#endif
