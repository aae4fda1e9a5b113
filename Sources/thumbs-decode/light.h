// The curve of sRGB (IEC 61966-2-1), for formats whose samples are linear light.

#ifndef LIGHT_H
#define LIGHT_H

#include <math.h>

/// Returns the sample of sRGB for linear light, both from 0 to 1.
static inline double sample_of_light(double light) {
  return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

/// Returns the linear light of a sample of sRGB, both from 0 to 1.
static inline double light_of_sample(double sample) {
  return sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4);
}

#endif
