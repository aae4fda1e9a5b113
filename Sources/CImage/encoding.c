#include "encoding.h"

#include <math.h>

/// The number of points of a curve that is a table. PQ is steep at its end.
enum { curvePoints = 4096 };

/// The light of white in an image of high dynamic range, in cd/m2 (ITU-R BT.2408-7, table 1).
static const double whiteLight = 203;

/// Compresses light above 0.8 of white, so that none is brighter than 1. There is no standard for this. What is as
/// bright as in an image of standard range stays nearly the same.
static double compressed(double light) {
  const double knee = 0.8;
  return light <= knee ? light : knee + (1 - knee) * (1 - exp(-(light - knee) / (1 - knee)));
}

/// The light of PQ in cd/m2 (ITU-R BT.2100-2, table 4).
static double light_of_pq(double sample) {
  const double m1 = 2610.0 / 16384, m2 = 2523.0 / 4096 * 128;
  const double c1 = 3424.0 / 4096, c2 = 2413.0 / 4096 * 32, c3 = 2392.0 / 4096 * 32;
  double power = pow(sample, 1 / m2);
  return 10000 * pow(fmax(power - c1, 0) / (c2 - c3 * power), 1 / m1);
}

/// The light of the scene in HLG, of which the brightest is 1 (ITU-R BT.2100-2, table 5).
static double scene_of_hlg(double sample) {
  const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
  return sample <= 0.5 ? sample * sample / 3 : (exp((sample - c) / a) + b) / 12;
}

/// The light of HLG in cd/m2, with white at 75 % of the signal (ITU-R BT.2408-7, table 1). Images of standard range are
/// put into HLG without the gamma of a display (section 5.1.3.2), so it is left out here.
static double light_of_hlg(double sample) { return whiteLight * scene_of_hlg(sample) / scene_of_hlg(0.75); }

static cmsToneCurve *table_curve(cmsContext context, double (*light)(double sample)) {
  cmsFloat32Number points[curvePoints];
  for (int i = 0; i < curvePoints; i++) {
    points[i] = (cmsFloat32Number)compressed(light((double)i / (curvePoints - 1)) / whiteLight);
  }
  return cmsBuildTabulatedToneCurveFloat(context, curvePoints, points);
}

static cmsToneCurve *curve_of(cmsContext context, CImageColorEncoding encoding) {
  static const cmsFloat64Number srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  static const cmsFloat64Number television[] = {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081};
  switch (encoding.curve) {
    case CImageCurvePower: return cmsBuildGamma(context, encoding.exponent);
    case CImageCurveSRGB: return cmsBuildParametricToneCurve(context, 4, srgb);
    case CImageCurveTelevision: return cmsBuildParametricToneCurve(context, 4, television);
    case CImageCurvePQ: return table_curve(context, light_of_pq);
    case CImageCurveHLG: return table_curve(context, light_of_hlg);
  }
}

cmsHPROFILE cimage_profile_of(cmsContext context, CImageColorEncoding encoding, CImageColorModel model) {
  cmsToneCurve *curve = curve_of(context, encoding);
  if (curve == NULL) return NULL;
  cmsHPROFILE profile;
  if (model == CImageColorModelGray || model == CImageColorModelGrayAlpha) {
    profile = cmsCreateGrayProfileTHR(context, cmsD50_xyY(), curve);
  } else {
    const cmsCIExyY white = {encoding.white.x, encoding.white.y, 1};
    const cmsCIExyYTRIPLE primaries = {{encoding.red.x, encoding.red.y, 1},
                                       {encoding.green.x, encoding.green.y, 1},
                                       {encoding.blue.x, encoding.blue.y, 1}};
    cmsToneCurve *curves[3] = {curve, curve, curve};
    profile = cmsCreateRGBProfileTHR(context, &white, &primaries, curves);
  }
  cmsFreeToneCurve(curve);
  return profile;
}
