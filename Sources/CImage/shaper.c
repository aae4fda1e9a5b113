#include "shaper.h"

#include "light.h"
#include "simd.h"

// A product and a sum must not be fused, as processors other than x86-64 can, so that all give the same pixels.
#pragma STDC FP_CONTRACT OFF

/// From CIE XYZ, adapted to D50, to the linear colors of each target: the inverse of the colorants of the target's
/// profile (those of IEC 61966-2-1 and SMPTE EG 432-1, adapted with the Bradford matrix of ICC.1:2010, E.3).
static const double matrices[2][3][3] = {
    [CImageTargetSRGB] = {{3.1341864, -1.6172090, -0.4906941},
                          {-0.9787485, 1.9161301, 0.0334334},
                          {0.0719639, -0.2289939, 1.4057537}},
    [CImageTargetDisplayP3] = {{2.4039840, -0.9899069, -0.3976415},
                               {-0.8422229, 1.7988437, 0.0160354},
                               {0.0482059, -0.0974068, 1.2740049}}};

static const cmsTagSignature curves[3] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
static const cmsTagSignature colorants[3] = {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};

static inline float clamped(float light) {
  float positive = light > 0 ? light : 0;
  return positive < 1 ? positive : 1;
}

bool cimage_shaper_read(Shaper *shaper, cmsHPROFILE profile, CImageTarget target) {
  if (!cmsIsMatrixShaper(profile) || cmsIsTag(profile, cmsSigAToB0Tag)) return false;
  for (int channel = 0; channel < 3; channel++) {
    const cmsToneCurve *curve = cmsReadTag(profile, curves[channel]);
    const cmsCIEXYZ *color = cmsReadTag(profile, colorants[channel]);
    if (curve == NULL || color == NULL) return false;
    for (int i = 0; i < 256; i++) {
      shaper->lights[channel][i] = clamped(cmsEvalToneCurveFloat(curve, (cmsFloat32Number)i / 255));
    }
    for (int row = 0; row < 3; row++) {
      const double *weights = matrices[target][row];
      shaper->matrix[row][channel] = (float)(weights[0] * color->X + weights[1] * color->Y + weights[2] * color->Z);
    }
  }
  return true;
}

/// Some pixels by channel, so that vectors of them are mixed.
enum { blockSize = 64 };

typedef struct Block {
  float lights[3][blockSize];
  int32_t steps[3][blockSize];
} Block;

/// Mixes the lights of a block, and converts them to steps of the table of samples.
WITH_AVX2 static void mix(const Shaper *self, Block *block) {
  const float *red = block->lights[0], *green = block->lights[1], *blue = block->lights[2];
  for (int row = 0; row < 3; row++) {
    const float *weights = self->matrix[row];
    int32_t *steps = block->steps[row];
    for (int i = 0; i < blockSize; i++) {
      float light = clamped(weights[0] * red[i] + weights[1] * green[i] + weights[2] * blue[i]);
      steps[i] = (int32_t)(light * lightSteps + 0.5f);
    }
  }
}

/// Converts up to `blockSize` pixels in place.
static inline void shape_block(const Shaper *self, uint8_t *const colors[3], size_t count, size_t step) {
  const LightTables *tables = cimage_light_tables();
  Block block = {0};
  for (int channel = 0; channel < 3; channel++) {
    const float *lights = self->lights[channel];
    for (size_t i = 0; i < count; i++) block.lights[channel][i] = lights[colors[channel][i * step]];
  }
  mix(self, &block);
  for (int channel = 0; channel < 3; channel++) {
    const int32_t *steps = block.steps[channel];
    for (size_t i = 0; i < count; i++) colors[channel][i * step] = tables->samples[steps[i]];
  }
}

void cimage_shape(const Shaper *self, uint8_t *const colors[3], size_t count, size_t step) {
  for (size_t i = 0; i < count; i += blockSize) {
    uint8_t *const part[3] = {colors[0] + i * step, colors[1] + i * step, colors[2] + i * step};
    size_t partCount = count - i < blockSize ? count - i : blockSize;
    // The steps are constants, so that the compiler makes a loop for each.
    switch (step) {
      case 1: shape_block(self, part, partCount, 1); break;
      case 3: shape_block(self, part, partCount, 3); break;
      default: shape_block(self, part, partCount, step);
    }
  }
}
