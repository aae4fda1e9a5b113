// Encodes the frames of WebP animations with libwebp. Empty without the package trait WebP.

#ifdef CIMAGE_WEBP

#include <stdlib.h>
#include <string.h>
#include <webp/mux.h>

#include "CImage.h"
#include "../messages.h"
#include "encoding.h"

struct CImageAnimation {
  WebPAnimEncoder *encoder;
  WebPConfig config;
  int32_t width, height;
};

static CImageStatus fail(CImageMessages *messages, CImageStatus status, const char *reason) {
  cimage_set_error(messages, reason);
  return status;
}

static CImageStatus incompatible(CImageMessages *messages) {
  return fail(messages, CImageStatusUnsupported, "libwebp is incompatible with its headers");
}

CImageStatus cimage_animation_create(int32_t width, int32_t height, CImageWebPEncoding options, int32_t loops,
                                     CImageAnimation **animation, CImageMessages *messages) {
  WebPAnimEncoderOptions settings;
  WebPConfig config;
  *animation = NULL;
  if (!WebPAnimEncoderOptionsInit(&settings) || !cimage_webp_configure(&config, options)) return incompatible(messages);
  settings.anim_params.loop_count = loops;
  // Each frame has losses or none, as a still image does: by its number of colors.
  settings.allow_mixed = !options.isLossless;
  CImageAnimation *self = calloc(1, sizeof *self);
  if (self == NULL) return CImageStatusOutOfMemory;
  *self = (CImageAnimation){WebPAnimEncoderNew(width, height, &settings), config, width, height};
  if (self->encoder == NULL) {
    free(self);
    return CImageStatusOutOfMemory;
  }
  *animation = self;
  return CImageStatusOK;
}

CImageStatus cimage_animation_add(CImageAnimation *self, CImageBitmap frame, int32_t start, CImageMessages *messages) {
  WebPPicture picture;
  if (!WebPPictureInit(&picture)) return incompatible(messages);
  picture.use_argb = 1;
  picture.width = self->width;
  picture.height = self->height;
  if (!WebPPictureAlloc(&picture)) return CImageStatusOutOfMemory;
  cimage_webp_copy_pixels(frame, &picture);
  int isAdded = WebPAnimEncoderAdd(self->encoder, &picture, start, &self->config);
  WebPPictureFree(&picture);
  return isAdded ? CImageStatusOK : fail(messages, CImageStatusCorrupt, WebPAnimEncoderGetError(self->encoder));
}

CImageStatus cimage_animation_finish(CImageAnimation *self, int32_t end, uint8_t **bytes, size_t *count,
                                     CImageMessages *messages) {
  WebPData data;
  *bytes = NULL;
  *count = 0;
  WebPDataInit(&data);
  if (!WebPAnimEncoderAdd(self->encoder, NULL, end, NULL) || !WebPAnimEncoderAssemble(self->encoder, &data)) {
    return fail(messages, CImageStatusCorrupt, WebPAnimEncoderGetError(self->encoder));
  }
  *bytes = malloc(data.size + cimageExtendedBytes);
  if (*bytes != NULL) {
    memcpy(*bytes + cimageExtendedBytes, data.bytes, data.size);
    *count = cimage_webp_extend(*bytes, data.size, self->width, self->height);
  }
  WebPDataClear(&data);
  return *bytes != NULL ? CImageStatusOK : CImageStatusOutOfMemory;
}

void cimage_animation_destroy(CImageAnimation *self) {
  if (self == NULL) return;
  WebPAnimEncoderDelete(self->encoder);
  free(self);
}

#endif
