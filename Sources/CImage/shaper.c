#include "shaper.h"

#include "light.h"
#include "simd.h"

// A product and a sum must not be fused, as processors other than x86-64 can, so that all give the same pixels.
#pragma STDC FP_CONTRACT OFF

/// From CIE XYZ, adapted to D50, to linear sRGB: the inverse of the colorants of sRGB's own profile (IEC 61966-2-1,
/// adapted with the Bradford matrix of ICC.1:2010, E.3).
static const double matrixOfSRGB[3][3] = {
    {3.1341864, -1.6172090, -0.4906941}, {-0.9787485, 1.9161301, 0.0334334}, {0.0719639, -0.2289939, 1.4057537}};

static const cmsTagSignature curves[3] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
static const cmsTagSignature colorants[3] = {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};

static float clamped(float light) { return light > 0 ? light < 1 ? light : 1 : 0; }

bool cimage_shaper_read(Shaper *shaper, cmsHPROFILE profile) {
  if (!cmsIsMatrixShaper(profile) || cmsIsTag(profile, cmsSigAToB0Tag)) return false;
  for (int channel = 0; channel < 3; channel++) {
    const cmsToneCurve *curve = cmsReadTag(profile, curves[channel]);
    const cmsCIEXYZ *color = cmsReadTag(profile, colorants[channel]);
    if (curve == NULL || color == NULL) return false;
    for (int i = 0; i < 256; i++) {
      shaper->lights[channel][i] = clamped(cmsEvalToneCurveFloat(curve, (cmsFloat32Number)i / 255));
    }
    for (int row = 0; row < 3; row++) {
      const double *weights = matrixOfSRGB[row];
      shaper->matrix[row][channel] = (float)(weights[0] * color->X + weights[1] * color->Y + weights[2] * color->Z);
    }
  }
  return true;
}

static inline uint8_t mixed(const float *weights, float red, float green, float blue, const LightTables *tables) {
  return sample_of_light(tables, clamped(weights[0] * red + weights[1] * green + weights[2] * blue));
}

void cimage_shape(const Shaper *self, const uint8_t *source, uint8_t *target, size_t count, int channels) {
  const LightTables *tables = cimage_light_tables();
  for (size_t i = 0; i < count; i++, source += channels, target += channels) {
    float red = self->lights[0][source[0]], green = self->lights[1][source[1]], blue = self->lights[2][source[2]];
    if (channels == 4) target[3] = source[3];
    for (int row = 0; row < 3; row++) target[row] = mixed(self->matrix[row], red, green, blue, tables);
  }
}
