// Reads the header of AVIF files, with libavif.

#if __has_include(<avif/avif.h>)

#include "avif.h"

#include <errno.h>
#include <stdlib.h>

/// The frames that a sequence may have. The first one is decoded, but libavif lists them all.
enum { frameLimit = 1 << 16 };

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

static void describe(const avifImage *image, const AVIFFile *file, DecodeHeader *header, DecodeText *text) {
  header->width = file->crop.width;
  header->height = file->crop.height;
  header->channels = file->channels;
  header->orientation = orientation_of(image);
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

DecodeStatus avif_open(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
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

#endif
