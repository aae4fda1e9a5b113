// Decodes WebP image data with libwebp. Empty without the package trait WebP.

#ifdef CIMAGE_WEBP

#include <webp/decode.h>

#include "CImage.h"
#include "../messages.h"

static CImageStatus fail(CImageMessages *messages, CImageStatus status, const char *reason) {
  cimage_set_error(messages, reason);
  return status;
}

/// Converts libwebp's status. The caller knows if the file is complete.
static CImageStatus result_of(VP8StatusCode code, CImageMessages *messages) {
  switch (code) {
    case VP8_STATUS_OK:
      return CImageStatusOK;
    case VP8_STATUS_OUT_OF_MEMORY:
      return CImageStatusOutOfMemory;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return fail(messages, CImageStatusUnsupported, "unsupported feature");
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return fail(messages, CImageStatusCorrupt, "the image data ends before the last pixel");
    default:
      return fail(messages, CImageStatusCorrupt, "invalid image data");
  }
}

CImageStatus cimage_webp_decode(const uint8_t *bytes, size_t count, int32_t width, int32_t height, CImageBitmap bitmap,
                                CImageMessages *messages) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) {
    return fail(messages, CImageStatusUnsupported, "libwebp is incompatible with its headers");
  }
  VP8StatusCode code = WebPGetFeatures(bytes, count, &config.input);
  if (code != VP8_STATUS_OK) return result_of(code, messages);
  if (config.input.width != width || config.input.height != height) {
    return fail(messages, CImageStatusCorrupt, "the WebP file has conflicting headers");
  }
  config.options.use_scaling = bitmap.width != width || bitmap.height != height;
  config.options.scaled_width = bitmap.width;
  config.options.scaled_height = bitmap.height;
  config.output.colorspace = bitmap.channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = bitmap.pixels;
  config.output.u.RGBA.stride = (int)bitmap.stride;
  config.output.u.RGBA.size =
    bitmap.stride * (size_t)(bitmap.height - 1) + (size_t)bitmap.width * (size_t)bitmap.channels;
  // The incremental decoder writes the rows that precede the end or the damage; the other one may write none.
  WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
  if (decoder == NULL) return CImageStatusOutOfMemory;
  code = WebPIUpdate(decoder, bytes, count);
  WebPIDelete(decoder);
  WebPFreeDecBuffer(&config.output);
  return result_of(code, messages);
}

#endif
