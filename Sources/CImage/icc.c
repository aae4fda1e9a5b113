#include <lcms2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "CImage.h"
#include "icc.h"
#include "messages.h"

struct CImageTransform {
  cmsContext context;
  cmsHTRANSFORM transform;
  /// What LittleCMS said last. Lives here because the context keeps a pointer to it.
  char said[200];
};

static void remember(cmsContext context, cmsUInt32Number code, const char *text) {
  (void)code;
  CImageTransform *self = cmsGetContextUserData(context);
  strncpy(self->said, text, sizeof self->said - 1);
}

static cmsColorSpaceSignature space_of(CImageColorModel model) {
  switch (model) {
    case CImageColorModelGray:
    case CImageColorModelGrayAlpha:
      return cmsSigGrayData;
    case CImageColorModelRGB:
    case CImageColorModelRGBA:
      return cmsSigRgbData;
    case CImageColorModelCMYK:
      return cmsSigCmykData;
  }
}

static cmsUInt32Number format_of(CImageColorModel model) {
  switch (model) {
    case CImageColorModelGray: return TYPE_GRAY_8;
    case CImageColorModelGrayAlpha: return TYPE_GRAYA_8;
    case CImageColorModelRGB: return TYPE_RGB_8;
    case CImageColorModelRGBA: return TYPE_RGBA_8;
    case CImageColorModelCMYK: return TYPE_CMYK_8_REV;
  }
}

/// sRGB, or for gray samples the tone curve of sRGB alone (IEC 61966-2-1).
static cmsHPROFILE create_target(cmsContext context, CImageColorModel model) {
  if (space_of(model) != cmsSigGrayData) return cmsCreate_sRGBProfileTHR(context);
  const cmsFloat64Number curve[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  cmsToneCurve *tone = cmsBuildParametricToneCurve(context, 4, curve);
  if (tone == NULL) return NULL;
  cmsHPROFILE gray = cmsCreateGrayProfileTHR(context, cmsD50_xyY(), tone);
  cmsFreeToneCurve(tone);
  return gray;
}

static void open_transform(CImageTransform *self, const uint8_t *profile, size_t count, CImageColorModel model) {
  cmsHPROFILE source = cmsOpenProfileFromMemTHR(self->context, profile, (cmsUInt32Number)count);
  if (source == NULL) return;
  if (cmsGetColorSpace(source) == space_of(model)) {
    cmsHPROFILE target = create_target(self->context, model);
    if (target != NULL) {
      cmsUInt32Number output = model == CImageColorModelCMYK ? TYPE_RGB_8 : format_of(model);
      self->transform = cmsCreateTransformTHR(self->context, source, format_of(model), target, output,
                                              INTENT_PERCEPTUAL, cmsFLAGS_COPY_ALPHA);
      cmsCloseProfile(target);
    }
  } else {
    strncpy(self->said, "it describes another kind of colour than the picture has", sizeof self->said - 1);
  }
  cmsCloseProfile(source);
}

/// Whether the profile is sRGB in all but name, as those of many pictures of the web are: no colour of a grid moves by
/// more than one level.
static bool changes_nothing(CImageTransform *self, CImageColorModel model) {
  if (model != CImageColorModelRGB) return false;
  enum { steps = 9 };
  uint8_t before[steps * 3], after[steps * 3];
  for (int rg = 0; rg < steps * steps; rg++) {
    for (int b = 0; b < steps; b++) {
      before[3 * b] = (uint8_t)(rg / steps * 255 / (steps - 1));
      before[3 * b + 1] = (uint8_t)(rg % steps * 255 / (steps - 1));
      before[3 * b + 2] = (uint8_t)(b * 255 / (steps - 1));
    }
    cimage_transform_row(self, before, after, steps);
    for (int i = 0; i < steps * 3; i++) {
      if (abs(before[i] - after[i]) > 1) return false;
    }
  }
  return true;
}

CImageTransform *cimage_transform_create(const uint8_t *profile, size_t count, CImageColorModel model,
                                         CImageMessages *messages) {
  CImageTransform *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->context = cmsCreateContext(NULL, self);
  if (self->context != NULL) {
    cmsSetLogErrorHandlerTHR(self->context, remember);
    open_transform(self, profile, count, model);
  }
  if (self->transform != NULL && !changes_nothing(self, model)) return self;
  if (self->transform != NULL) {
    cimage_transform_destroy(self);
    return NULL;
  }
  char line[256] = "ICC profile ignored: ";
  strncat(line, self->said[0] != '\0' ? self->said : "it is damaged", sizeof line - strlen(line) - 1);
  cimage_add_warning(messages, line);
  cimage_transform_destroy(self);
  return NULL;
}

void cimage_transform_row(CImageTransform *self, const uint8_t *source, uint8_t *target, size_t count) {
  cmsDoTransform(self->transform, source, target, (cmsUInt32Number)count);
}

void cimage_transform_apply(CImageTransform *self, CImageBitmap bitmap) {
  for (int32_t y = 0; y < bitmap.height; y++) {
    uint8_t *row = bitmap.pixels + (size_t)y * bitmap.stride;
    cimage_transform_row(self, row, row, (size_t)bitmap.width);
  }
}

void cimage_transform_destroy(CImageTransform *self) {
  if (self == NULL) return;
  if (self->transform != NULL) cmsDeleteTransform(self->transform);
  if (self->context != NULL) cmsDeleteContext(self->context);
  free(self);
}
