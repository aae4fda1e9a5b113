// Encodes thumbnails as AVIF, with libavif and libaom.

#if __has_include(<avif/avif.h>)

#include "avif.h"

#include <errno.h>
#include <string.h>

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
  // sRGB, with the matrix of JPEG (ITU-T H.273).
  image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
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

DecodeStatus avif_encode(Encoding *encoding, DecodeText *text) {
  Content content = content_of(encoding->memory, (size_t)encoding->width * encoding->height);
  avifImage *image = create_planes(encoding, content);
  avifEncoder *encoder = create_encoder(encoding);
  DecodeStatus status = image != NULL && encoder != NULL
    ? write_file(encoder, image, content, encoding, text) : fail(DecodeStatusOutOfMemory, text, "out of memory");
  if (encoder != NULL) avifEncoderDestroy(encoder);
  if (image != NULL) avifImageDestroy(image);
  return status;
}

bool avif_can_encode(void) {
  return avifCodecName(AVIF_CODEC_CHOICE_AOM, AVIF_CODEC_FLAG_CAN_ENCODE) != NULL;
}

#endif
