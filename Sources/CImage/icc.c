#include <lcms2.h>
#include <lcms2_plugin.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CImage.h"
#include "encoding.h"
#include "icc.h"
#include "messages.h"
#include "shaper.h"

struct CImageTransform {
  cmsContext context;
  cmsHTRANSFORM transform;
  /// A faster equivalent of `transform`, if there is one.
  Shaper shaper;
  bool hasShaper;
  /// True if the pixels are RGB, with alpha or not.
  bool isRGB;
  /// The number of channels of the pixels that `shaper` converts.
  size_t channels;
  /// The last message from LittleCMS.
  char message[200];
  /// True if an allocation failed, so that nothing is known about the profile.
  bool outOfMemory;
};

/// The largest block that LittleCMS's own allocator would return.
enum { maxBlock = 512 << 20 };

/// Returns `memory`, after recording a failed allocation in the context's transform.
static void *recorded(cmsContext context, void *memory) {
  CImageTransform *self = cmsGetContextUserData(context);
  if (memory == NULL && self != NULL) self->outOfMemory = true;
  return memory;
}

static void *allocate(cmsContext context, cmsUInt32Number count) {
  return count <= maxBlock ? recorded(context, malloc(count)) : NULL;
}

static void *reallocate(cmsContext context, void *memory, cmsUInt32Number count) {
  return count <= maxBlock ? recorded(context, realloc(memory, count)) : NULL;
}

static void deallocate(cmsContext context, void *memory) {
  (void)context;
  free(memory);
}

/// A memory handler, needed because LittleCMS reports a failed allocation like a corrupt profile.
static cmsPluginMemHandler memoryHandler = {
    .base = {.Magic = cmsPluginMagicNumber, .ExpectedVersion = 2000, .Type = cmsPluginMemHandlerSig},
    .MallocPtr = allocate,
    .FreePtr = deallocate,
    .ReallocPtr = reallocate,
};

static void remember(cmsContext context, cmsUInt32Number code, const char *text) {
  (void)code;
  CImageTransform *self = cmsGetContextUserData(context);
  strncpy(self->message, text, sizeof self->message - 1);
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

static const CImageColorEncoding displayP3 = {
    .white = {0.3127, 0.3290}, .red = {0.680, 0.320}, .green = {0.265, 0.690}, .blue = {0.150, 0.060},
    .curve = CImageCurveSRGB,
};

/// Creates the profile of a target, or for gray samples a gray profile with the sRGB tone curve (IEC 61966-2-1).
static cmsHPROFILE create_target(cmsContext context, CImageColorModel model, CImageTarget target) {
  bool isGray = space_of(model) == cmsSigGrayData;
  if (!isGray && target == CImageTargetDisplayP3) return cimage_profile_of(context, displayP3, CImageColorModelRGB);
  if (!isGray) return cmsCreate_sRGBProfileTHR(context);
  return cimage_profile_of(context, (CImageColorEncoding){.curve = CImageCurveSRGB}, model);
}

/// The colors of an image: a profile or, if `profile` is NULL, an encoding.
typedef struct Colors {
  const uint8_t *profile;
  size_t count;
  CImageColorEncoding encoding;
  CImageTarget target;
} Colors;

enum { gridSteps = 17 };

/// Makes a row of a grid of colors, in which red varies.
static void make_grid_row(int number, size_t channels, uint8_t *row) {
  for (int i = 0; i < gridSteps; i++, row += channels) {
    int steps[3] = {i, number % gridSteps, number / gridSteps};
    for (int channel = 0; channel < 3; channel++) row[channel] = (uint8_t)(steps[channel] * 255 / (gridSteps - 1));
    if (channels == 4) row[3] = 255;
  }
}

/// Uses curves and a matrix instead of LittleCMS if no color of a grid differs by more than one level.
static void open_shaper(CImageTransform *self, cmsHPROFILE source, CImageColorModel model, CImageTarget target) {
  if (model != CImageColorModelRGB && model != CImageColorModelRGBA) return;
  if (!cimage_shaper_read(&self->shaper, source, target)) return;
  self->channels = (size_t)model;
  uint8_t row[4 * gridSteps], expected[4 * gridSteps];
  for (int number = 0; number < gridSteps * gridSteps; number++) {
    make_grid_row(number, self->channels, row);
    cmsDoTransform(self->transform, row, expected, gridSteps);
    cimage_shape(&self->shaper, (uint8_t *const[3]){row, row + 1, row + 2}, gridSteps, self->channels);
    for (size_t i = 0; i < gridSteps * self->channels; i++) {
      if (abs(expected[i] - row[i]) > 1) return;
    }
  }
  self->hasShaper = true;
}

static void open_transform(CImageTransform *self, Colors colors, CImageColorModel model) {
  cmsHPROFILE source = colors.profile != NULL
                           ? cmsOpenProfileFromMemTHR(self->context, colors.profile, (cmsUInt32Number)colors.count)
                           : cimage_profile_of(self->context, colors.encoding, model);
  if (source == NULL) return;
  if (cmsGetColorSpace(source) == space_of(model)) {
    cmsHPROFILE target = create_target(self->context, model, colors.target);
    if (target != NULL) {
      cmsUInt32Number output = model == CImageColorModelCMYK ? TYPE_RGB_8 : format_of(model);
      self->transform = cmsCreateTransformTHR(self->context, source, format_of(model), target, output,
                                              INTENT_PERCEPTUAL, cmsFLAGS_COPY_ALPHA | cmsFLAGS_NOCACHE);
      cmsCloseProfile(target);
    }
    if (self->transform != NULL) open_shaper(self, source, model, colors.target);
    // Without a shaper for lack of memory, colors could differ by a level from those of other runs.
    if (self->transform != NULL && self->outOfMemory) {
      cmsDeleteTransform(self->transform);
      self->transform = NULL;
    }
  } else {
    strncpy(self->message, "its color model differs from the image's", sizeof self->message - 1);
  }
  cmsCloseProfile(source);
}

/// Returns true if the transform moves no color of a grid, with `steps` per channel, by more than one level.
static bool keeps_grid(const CImageTransform *self, int colors, int channels, int steps) {
  uint8_t before[4], after[4];
  int count = colors == 1 ? steps : steps * steps * steps;
  for (int number = 0; number < count; number++) {
    for (int i = 0, rest = number; i < channels; i++, rest /= steps) {
      before[i] = i < colors ? (uint8_t)(rest % steps * 255 / (steps - 1)) : 255;
    }
    cimage_transform_row(self, before, after, 1);
    for (int i = 0; i < colors; i++) {
      if (abs(before[i] - after[i]) > 1) return false;
    }
  }
  return true;
}

/// Returns true if the profile is equivalent to sRGB, as the profiles of many web images are.
static bool changes_nothing(const CImageTransform *self, CImageColorModel model) {
  switch (model) {
    case CImageColorModelGray:
    case CImageColorModelGrayAlpha: return keeps_grid(self, 1, (int)model, 256);
    case CImageColorModelRGB:
    case CImageColorModelRGBA: return keeps_grid(self, 3, (int)model, 9);
    case CImageColorModelCMYK: return false;
  }
}

/// Adds a message with the reason that there is no transform. Returns success unless memory ran out, because an image
/// without its profile is still an image.
static CImageStatus explain(const CImageTransform *self, Colors colors, CImageMessages *messages) {
  if (self->context == NULL || self->outOfMemory) {
    cimage_set_error(messages, "out of memory");
    return CImageStatusOutOfMemory;
  }
  char line[256] = "";
  snprintf(line, sizeof line, "%s ignored: %s", colors.profile != NULL ? "ICC profile" : "declared color encoding",
           self->message[0] != '\0' ? self->message : "it is corrupt");
  cimage_add_warning(messages, line);
  return CImageStatusOK;
}

static CImageStatus create(Colors colors, CImageColorModel model, CImageTransform **transform,
                           CImageMessages *messages) {
  *transform = NULL;
  CImageTransform *self = calloc(1, sizeof *self);
  if (self == NULL) return CImageStatusOutOfMemory;
  self->isRGB = model == CImageColorModelRGB || model == CImageColorModelRGBA;
  self->context = cmsCreateContext(&memoryHandler, self);
  if (self->context != NULL) {
    cmsSetLogErrorHandlerTHR(self->context, remember);
    open_transform(self, colors, model);
    // Many threads may use the transform from now on, so LittleCMS must not write messages into it.
    cmsSetLogErrorHandlerTHR(self->context, NULL);
  }
  CImageStatus status = self->transform != NULL ? CImageStatusOK : explain(self, colors, messages);
  if (self->transform != NULL && !changes_nothing(self, model)) {
    *transform = self;
  } else {
    cimage_transform_destroy(self);
  }
  return status;
}

CImageStatus cimage_transform_create(const uint8_t *profile, size_t count, CImageColorModel model, CImageTarget target,
                                     CImageTransform **transform, CImageMessages *messages) {
  return create((Colors){.profile = profile, .count = count, .target = target}, model, transform, messages);
}

CImageStatus cimage_transform_create_encoded(CImageColorEncoding encoding, CImageColorModel model, CImageTarget target,
                                             CImageTransform **transform, CImageMessages *messages) {
  return create((Colors){.encoding = encoding, .target = target}, model, transform, messages);
}

int32_t cimage_transform_loses_colors(const CImageTransform *self) {
  if (!self->hasShaper) return self->isRGB;
  // A primary outside of sRGB has less than no light of another one. Rounded colorants have a little less.
  const float least = -0.01f;
  for (int i = 0; i < 9; i++) {
    if (self->shaper.matrix[i / 3][i % 3] < least) return 1;
  }
  return 0;
}

void cimage_transform_row(const CImageTransform *self, const uint8_t *source, uint8_t *target, size_t count) {
  if (self->hasShaper) {
    if (source != target) memcpy(target, source, count * self->channels);
    cimage_shape(&self->shaper, (uint8_t *const[3]){target, target + 1, target + 2}, count, self->channels);
  } else {
    cmsDoTransform(self->transform, source, target, (cmsUInt32Number)count);
  }
}

/// Converts three channels in place with LittleCMS, which wants whole pixels.
static void transform_pixels(const CImageTransform *self, uint8_t *const colors[3], size_t count) {
  enum { blockSize = 64 };
  uint8_t pixels[3 * blockSize];
  for (size_t first = 0; first < count; first += blockSize) {
    size_t size = count - first < blockSize ? count - first : blockSize;
    for (size_t i = 0; i < 3 * size; i++) pixels[i] = colors[i % 3][first + i / 3];
    cmsDoTransform(self->transform, pixels, pixels, (cmsUInt32Number)size);
    for (size_t i = 0; i < 3 * size; i++) colors[i % 3][first + i / 3] = pixels[i];
  }
}

void cimage_transform_channels(const CImageTransform *self, uint8_t *const colors[3], size_t count) {
  if (self->hasShaper) {
    cimage_shape(&self->shaper, colors, count, 1);
  } else {
    transform_pixels(self, colors, count);
  }
}

void cimage_transform_apply(const CImageTransform *self, CImageBitmap bitmap) {
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
