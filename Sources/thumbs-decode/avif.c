// Decodes AVIF images with libavif, and encodes thumbnails with libaom. NULL without libavif.

#include "formats.h"

#if __has_include(<avif/avif.h>)

#include <avif/avif.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// An open image: the declared size, and the part of it that is shown before the rotation.
typedef struct AVIFFile {
  avifDecoder *decoder;
  Limits limits;
  uint32_t width, height, channels;
  avifCropRect crop;
} AVIFFile;

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "libavif %s", avifVersion());
  return name;
}

// MARK: Errors

/// Converts libavif's result. Some versions have no result for some causes, but an explanation.
static DecodeStatus status_of(avifResult result, const char *reason) {
  // The AV1 decoder reports a failed allocation as invalid data.
  if (errno == ENOMEM) return DecodeStatusOutOfMemory;
  if (strstr(reason, "dimensions are too large") != NULL) return DecodeStatusTooManyPixels;
  if (strstr(reason, "imageCountLimit") != NULL) return DecodeStatusLimit;
  if (strstr(reason, "runcated") != NULL) return DecodeStatusTruncated;
  switch (result) {
    case AVIF_RESULT_TRUNCATED_DATA:
    case AVIF_RESULT_IO_ERROR:  // An offset beyond the end.
      return DecodeStatusTruncated;
    case AVIF_RESULT_OUT_OF_MEMORY:
      return DecodeStatusOutOfMemory;
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_REFORMAT_FAILED:  // A matrix that libavif does not have.
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NO_AV1_ITEMS_FOUND:
      return DecodeStatusUnsupported;
    default:
      return DecodeStatusCorrupt;
  }
}

/// Sets the error of `text` to the reason of libavif, and returns the status.
static DecodeStatus avif_fail(avifResult result, const avifDiagnostics *diagnostics, DecodeText *text) {
  const char *reason = diagnostics->error[0] != 0 ? diagnostics->error : avifResultToString(result);
  return fail(status_of(result, reason), text, "%s", reason);
}

// MARK: Header

/// The frames that a sequence may have, because libavif lists them all, and those that are shown at most: the time that
/// libavif takes to list the durations grows with the square of their number.
enum { frameLimit = 1 << 16, shownFrameLimit = 1 << 13 };

/// Converts one axis of a clean aperture (ISO/IEC 14496-12:2022, 12.1.4) to pixels of an image of `whole` pixels.
/// libavif's function is not used, because some versions refuse the odd borders that others accept.
static bool crop_axis(uint32_t sizeN, uint32_t sizeD, uint32_t offsetN, uint32_t offsetD, uint32_t whole,
                      uint32_t *origin, uint32_t *size) {
  if (sizeD == 0 || sizeN % sizeD != 0 || offsetD == 0 || offsetD > INT32_MAX) return false;
  *size = sizeN / sizeD;
  if (*size == 0 || *size > whole) return false;
  // The offset is that of the centers.
  int64_t doubled = (int64_t)(whole - *size) * offsetD + 2 * (int64_t)(int32_t)offsetN;
  if (doubled < 0 || doubled % (2 * (int64_t)offsetD) != 0) return false;
  int64_t first = doubled / (2 * (int64_t)offsetD);
  *origin = (uint32_t)first;
  return first <= whole - *size;
}

/// Returns the part of the image that is shown. Ignores an invalid clean aperture, as browsers do.
static avifCropRect crop_of(const avifImage *image, DecodeText *text) {
  avifCropRect whole = {0, 0, image->width, image->height}, crop;
  if ((image->transformFlags & AVIF_TRANSFORM_CLAP) == 0) return whole;
  const avifCleanApertureBox *clap = &image->clap;
  if (crop_axis(clap->widthN, clap->widthD, clap->horizOffN, clap->horizOffD, whole.width, &crop.x, &crop.width) &&
      crop_axis(clap->heightN, clap->heightD, clap->vertOffN, clap->vertOffD, whole.height, &crop.y, &crop.height)) {
    return crop;
  }
  add_warning(text, "the clean aperture is invalid and was ignored");
  return whole;
}

/// Returns the orientation, as in EXIF, that equals the rotation counterclockwise followed by the mirroring. MIAF
/// (ISO/IEC 23000-22, 7.3.6.7) demands that order.
static uint32_t orientation_of(const avifImage *image) {
  static const uint8_t orientations[4][3] = {{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}};
  uint32_t turns = (image->transformFlags & AVIF_TRANSFORM_IROT) != 0 ? image->irot.angle & 3 : 0;
  if ((image->transformFlags & AVIF_TRANSFORM_IMIR) == 0) return orientations[turns][0];
  // Both versions mean: 0 exchanges top and bottom, 1 exchanges left and right.
#if AVIF_VERSION >= 1000000
  return orientations[turns][1 + (image->imir.axis & 1)];
#else
  return orientations[turns][1 + (image->imir.mode & 1)];
#endif
}

static uint8_t code_point(uint32_t value) {
  return value <= UINT8_MAX ? (uint8_t)value : 2;
}

/// Returns the number of times that a sequence is shown. Without an edit list, browsers show it for ever, and so do
/// versions of libavif that do not read the list.
static uint32_t loops_of(const avifDecoder *decoder) {
#if AVIF_VERSION >= 1000000
  if (decoder->repetitionCount >= 0) return (uint32_t)decoder->repetitionCount + 1;
#else
  (void)decoder;
#endif
  return 0;
}

static void describe(const avifImage *image, const AVIFFile *file, DecodeHeader *header, DecodeText *text) {
  header->width = file->crop.width;
  header->height = file->crop.height;
  header->channels = file->channels;
  header->orientation = orientation_of(image);
  if (file->decoder->imageCount > 1) {
    header->frameCount =
      file->decoder->imageCount < shownFrameLimit ? (uint32_t)file->decoder->imageCount : shownFrameLimit;
    header->loops = loops_of(file->decoder);
  }
  header->profileCount = accepted_profile(image->icc.size, text);
  if (header->profileCount != 0) return;
  header->primaries = code_point(image->colorPrimaries);
  header->transfer = code_point(image->transferCharacteristics);
  header->matrix = code_point(image->matrixCoefficients);
}

static avifResult parse(avifDecoder *decoder, const Source *source) {
  decoder->maxThreads = 1;
  // The orientation in EXIF does not apply to AVIF.
  decoder->ignoreExif = AVIF_TRUE;
  decoder->ignoreXMP = AVIF_TRUE;
  // Browsers show the files of old encoders, which lack `pixi` or the `ispe` of the alpha image.
  decoder->strictFlags = AVIF_STRICT_DISABLED;
  decoder->imageCountLimit = frameLimit;
  // Parsing allocates no pixels. `check_size` applies the real limits, and explains them.
  decoder->imageSizeLimit = AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
  decoder->imageDimensionLimit = 0;
  avifResult result = avifDecoderSetIOMemory(decoder, source->bytes, source->count);
  return result == AVIF_RESULT_OK ? avifDecoderParse(decoder) : result;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  AVIFFile *file = calloc(1, sizeof *file);
  if (file == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  *image = file;
  file->limits = source->limits;
  file->decoder = avifDecoderCreate();
  if (file->decoder == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  errno = 0;
  avifResult result = parse(file->decoder, source);
  if (result != AVIF_RESULT_OK) return avif_fail(result, &file->decoder->diag, text);
  const avifImage *parsed = file->decoder->image;
  DecodeStatus status = DecodeStatusOK;
  if (!check_size(parsed->width, parsed->height, &source->limits, &status, text)) return status;
  bool isGray = parsed->yuvFormat == AVIF_PIXEL_FORMAT_YUV400;
  file->width = parsed->width;
  file->height = parsed->height;
  file->channels = (isGray ? 1 : 3) + (file->decoder->alphaPresent ? 1 : 0);
  file->crop = crop_of(parsed, text);
  describe(parsed, file, header, text);
  return DecodeStatusOK;
}

static void copy_profile(Image image, uint8_t *bytes) {
  const avifRWData *profile = &((AVIFFile *)image)->decoder->image->icc;
  if (profile->size != 0) memcpy(bytes, profile->data, profile->size);
}

static void list_durations(Image image, uint32_t *durations) {
  const avifDecoder *decoder = ((AVIFFile *)image)->decoder;
  for (uint32_t index = 0; index < (uint32_t)decoder->imageCount && index < shownFrameLimit; index++) {
    avifImageTiming timing = {0};
    avifDecoderNthImageTiming(decoder, index, &timing);
    double duration = timing.duration * 1000 + 0.5;
    // Not a number without a time scale.
    durations[index] = duration > 0 && duration < UINT32_MAX ? (uint32_t)duration : 0;
  }
}

// MARK: Pixels

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

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  AVIFFile *file = image;
  avifDecoder *decoder = file->decoder;
  // libavif refuses a larger limit than its own. The AV1 decoder gets this limit, too.
  decoder->imageSizeLimit = file->limits.pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT
    ? (uint32_t)file->limits.pixels : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
  decoder->imageDimensionLimit = file->limits.side;
  errno = 0;
  avifResult result = avifDecoderNthImage(decoder, target->frame);
  if (result != AVIF_RESULT_OK) return avif_fail(result, &decoder->diag, text);
  if (!is_as_declared(decoder->image, file)) {
    return fail(DecodeStatusCorrupt, text, "the AV1 data contradicts the header");
  }
  DecodeStatus status = convert_crop(file, target->pixels, text);
  if (status == DecodeStatusOK) target->rowCount = target->height;
  return status;
}

// MARK: Encoding

/// The speed of libaom, 0 to 10. The highest one at which it still searches for the best blocks of a still image.
enum { speed = 8 };

/// The distance between the wanted quantizer and the limits, of which libavif takes the middle. Within the limits,
/// libaom may choose another one for a block. At the ends of the scale, the middle is 2 or 61.
enum { quantizerReach = 4, maxQuantizer = 63 };

/// The properties of all pixels of a thumbnail.
typedef struct Content {
  bool isGray, isOpaque;
} Content;

static Content content_of(const uint8_t *pixels, size_t count) {
  uint8_t differences = 0, alphas = 255;
  for (const uint8_t *pixel = pixels; pixel < pixels + count * 4; pixel += 4) {
    differences |= (pixel[0] ^ pixel[1]) | (pixel[0] ^ pixel[2]);
    alphas &= pixel[3];
  }
  return (Content){.isGray = differences == 0, .isOpaque = alphas == 255};
}

/// Returns the planes of a thumbnail, without contents; NULL if there is no memory.
static avifImage *create_planes(const Encoding *encoding, Content content) {
  avifPixelFormat color = encoding->chromaStep == 1 ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420;
  avifImage *image = avifImageCreate((int)encoding->width, (int)encoding->height, 8,
                                     content.isGray ? AVIF_PIXEL_FORMAT_YUV400 : color);
  if (image == NULL) return NULL;
  // The curve of sRGB, with the matrix of JPEG (ITU-T H.273).
  image->colorPrimaries = (avifColorPrimaries)encoding->primaries;
  image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
  image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
  image->yuvRange = AVIF_RANGE_FULL;
  return image;
}

static avifResult fill_planes(avifImage *image, const Encoding *encoding, Content content) {
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.format = AVIF_RGB_FORMAT_RGBA;
  rgb.depth = 8;
  rgb.ignoreAlpha = content.isOpaque;
  // The same planes with every build of libavif.
  rgb.avoidLibYUV = AVIF_TRUE;
  rgb.pixels = encoding->memory;
  rgb.rowBytes = encoding->width * 4;
  return avifImageRGBToYUV(image, &rgb);
}

static avifEncoder *create_encoder(const Encoding *encoding) {
  avifEncoder *encoder = avifEncoderCreate();
  if (encoder == NULL) return NULL;
  int quantizer = (int)encoding->quantizer;
  // The other encoders of libavif start threads.
  encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
  encoder->maxThreads = 1;
  encoder->speed = speed;
  encoder->minQuantizer = quantizer > quantizerReach ? quantizer - quantizerReach : 0;
  encoder->maxQuantizer = quantizer < maxQuantizer - quantizerReach ? quantizer + quantizerReach : maxQuantizer;
  // Alpha has no losses.
  encoder->minQuantizerAlpha = 0;
  encoder->maxQuantizerAlpha = 0;
  return encoder;
}

static DecodeStatus write_file(
    avifEncoder *encoder, avifImage *image, Content content, Encoding *encoding, DecodeText *text) {
  avifRWData file = AVIF_DATA_EMPTY;
  errno = 0;
  avifResult result = fill_planes(image, encoding, content);
  if (result == AVIF_RESULT_OK) result = avifEncoderWrite(encoder, image, &file);
  DecodeStatus status = DecodeStatusOK;
  if (result != AVIF_RESULT_OK) {
    status = avif_fail(result, &encoder->diag, text);
  } else if (file.size > encoding->capacity) {
    status = fail(DecodeStatusLimit, text, "the file has %zu bytes", file.size);
  } else {
    memcpy(encoding->memory, file.data, file.size);
    encoding->count = file.size;
  }
  avifRWDataFree(&file);
  return status;
}

static DecodeStatus encode(Encoding *encoding, DecodeText *text) {
  Content content = content_of(encoding->memory, (size_t)encoding->width * encoding->height);
  avifImage *image = create_planes(encoding, content);
  avifEncoder *encoder = create_encoder(encoding);
  DecodeStatus status = image != NULL && encoder != NULL
    ? write_file(encoder, image, content, encoding, text) : fail(DecodeStatusOutOfMemory, text, "out of memory");
  if (encoder != NULL) avifEncoderDestroy(encoder);
  if (image != NULL) avifImageDestroy(image);
  return status;
}

/// Returns true if libavif has the encoder that is used.
static bool can_encode(void) {
  return avifCodecName(AVIF_CODEC_CHOICE_AOM, AVIF_CODEC_FLAG_CAN_ENCODE) != NULL;
}

// MARK: Format

static void close_image(Image image) {
  AVIFFile *file = image;
  if (file == NULL) return;
  if (file->decoder != NULL) avifDecoderDestroy(file->decoder);
  free(file);
}

static const Format avif = {
  .id = DecodeFormatAVIF,
  .library = library,
  .open = open_image,
  .copy_profile = copy_profile,
  .list_durations = list_durations,
  .decode = decode,
  .encode = encode,
  .can_encode = can_encode,
  .close = close_image,
};

const Format *const decode_avif = &avif;

#else

const Format *const decode_avif = NULL;

#endif
