// Encodes WebP files with libwebp. Empty without the package trait WebP.

#ifdef CIMAGE_WEBP

#include <string.h>
#include <webp/encode.h>

#include "CImage.h"
#include "../messages.h"
#include "../png/palette.h"
#include "encoding.h"

/// libwebp's effort. For photos at 256 pixels, the lossy method 2 takes half of the time and makes files 3% larger;
/// method 5 takes a sixth more and makes them 2% smaller. For the Oxygen icons at 128 pixels, the lossless level 2
/// takes 0.6 of the time and makes files 7% larger; level 5 takes twice the time and makes them 3% smaller.
enum { lossyMethod = 4, losslessLevel = 3 };

/// The sizes of the RIFF header, and of the header of a chunk (RFC 9649, section 2.4).
enum { riffBytes = 12, chunkHeaderBytes = 8 };

/// The file written so far, and the size of its buffer.
typedef struct File {
  uint8_t *bytes;
  size_t count, capacity;
  /// True if the file did not fit.
  bool isFull;
} File;

static int write_bytes(const uint8_t *bytes, size_t count, const WebPPicture *picture) {
  File *file = picture->custom_ptr;
  file->isFull = file->isFull || count > file->capacity - file->count;
  if (file->isFull) return 0;
  memcpy(file->bytes + file->count, bytes, count);
  file->count += count;
  return 1;
}

static CImageStatus fail(CImageMessages *messages, CImageStatus status, const char *reason) {
  cimage_set_error(messages, reason);
  return status;
}

/// Converts the reason for which libwebp failed. It has no reliable code for a buffer that is too small.
static CImageStatus status_of(const WebPPicture *picture, CImageMessages *messages) {
  const File *file = picture->custom_ptr;
  if (file->isFull) return fail(messages, CImageStatusLimit, "the buffer for the WebP file is too small");
  switch (picture->error_code) {
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
      return fail(messages, CImageStatusOutOfMemory, "out of memory");
    case VP8_ENC_ERROR_BAD_DIMENSION:
      return fail(messages, CImageStatusLimit, "the size is out of the range of WebP");
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
    case VP8_ENC_ERROR_FILE_TOO_BIG:
      return fail(messages, CImageStatusLimit, "the image is too large for a WebP file of this quality");
    default:
      return fail(messages, CImageStatusCorrupt, "the WebP file cannot be encoded");
  }
}

int cimage_webp_configure(WebPConfig *config, CImageWebPEncoding options) {
  if (!WebPConfigInit(config)) return 0;
  if (options.isLossless) return WebPConfigLosslessPreset(config, losslessLevel);
  config->method = lossyMethod;
  config->quality = options.quality;
  return 1;
}

void cimage_webp_copy_pixels(CImageBitmap bitmap, WebPPicture *picture) {
  for (int32_t y = 0; y < bitmap.height; y++) {
    const uint8_t *pixel = bitmap.pixels + (size_t)y * bitmap.stride;
    uint32_t *row = picture->argb + (size_t)y * (size_t)picture->argb_stride;
    for (int32_t x = 0; x < bitmap.width; x++, pixel += bitmap.channels) row[x] = color_of(pixel, bitmap.channels);
  }
}

/// Runs the encoder. The modes of the blocks of a very large image may not fit in their partition of the file, so that
/// it needs simpler ones.
static CImageStatus encode(WebPConfig *config, WebPPicture *picture, CImageMessages *messages) {
  File *file = picture->custom_ptr;
  if (WebPEncode(config, picture)) return CImageStatusOK;
  if (picture->error_code != VP8_ENC_ERROR_PARTITION0_OVERFLOW) return status_of(picture, messages);
  picture->error_code = VP8_ENC_OK;
  config->partition_limit = 100;
  file->count = 0;
  return WebPEncode(config, picture) ? CImageStatusOK : status_of(picture, messages);
}

static void put_little_endian(uint8_t *bytes, size_t value, size_t count) {
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(value >> (8 * i));
}

/// Returns true if the VP8L chunk at `chunk` declares alpha (RFC 9649, section 3.4). VP8 alone has none.
static bool has_alpha(const uint8_t *chunk) {
  return chunk[3] == 'L' && (chunk[chunkHeaderBytes + 4] >> 4 & 1);
}

size_t cimage_webp_extend(uint8_t *bytes, size_t count, int32_t width, int32_t height) {
  const uint8_t *chunk = bytes + cimageExtendedBytes + riffBytes;
  if (memcmp(chunk, "VP8X", 4) == 0) {
    memmove(bytes, bytes + cimageExtendedBytes, count);
    return count;
  }
  memmove(bytes, bytes + cimageExtendedBytes, riffBytes);
  put_little_endian(bytes + 4, count + cimageExtendedBytes - chunkHeaderBytes, 4);
  uint8_t *extended = bytes + riffBytes;
  memcpy(extended, "VP8X", 4);
  put_little_endian(extended + 4, cimageExtendedBytes - chunkHeaderBytes, 4);
  put_little_endian(extended + 8, has_alpha(chunk) ? 1 << 4 : 0, 4);
  put_little_endian(extended + 12, (size_t)width - 1, 3);
  put_little_endian(extended + 15, (size_t)height - 1, 3);
  return count + cimageExtendedBytes;
}

CImageStatus cimage_webp_encode(CImageBitmap bitmap, CImageWebPEncoding options, uint8_t *bytes, size_t capacity,
                                size_t *written, CImageMessages *messages) {
  *written = 0;
  WebPConfig config;
  WebPPicture picture;
  if (!cimage_webp_configure(&config, options) || !WebPPictureInit(&picture)) {
    return fail(messages, CImageStatusUnsupported, "libwebp is incompatible with its headers");
  }
  File file = {bytes + cimageExtendedBytes, 0, capacity - cimageExtendedBytes, false};
  picture.use_argb = 1;
  picture.width = bitmap.width;
  picture.height = bitmap.height;
  picture.writer = write_bytes;
  picture.custom_ptr = &file;
  if (!WebPPictureAlloc(&picture)) return status_of(&picture, messages);
  cimage_webp_copy_pixels(bitmap, &picture);
  CImageStatus status = encode(&config, &picture, messages);
  WebPPictureFree(&picture);
  if (status == CImageStatusOK) *written = cimage_webp_extend(bytes, file.count, bitmap.width, bitmap.height);
  return status;
}

#endif
