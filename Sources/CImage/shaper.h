// Profiles of three curves and a matrix, which nearly all RGB profiles are.

#ifndef CIMAGE_SHAPER_H
#define CIMAGE_SHAPER_H

#include <lcms2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CImage.h"

/// A conversion from the colors of a profile to a target: curves to light, a matrix, and the curve of sRGB.
typedef struct Shaper {
  /// The light of each sample, by channel.
  float lights[3][256];
  /// The rows give the red, green and blue of the target.
  float matrix[3][3];
} Shaper;

/// Reads the curves and the colorants of `profile` (ICC.1:2010, F.3). Returns false if it has a lookup table, which
/// takes precedence, or lacks one of them.
bool cimage_shaper_read(Shaper *shaper, cmsHPROFILE profile, CImageTarget target);

/// Converts `count` pixels in place. `colors` are their first red, green and blue; the next ones follow every `step`
/// bytes.
void cimage_shape(const Shaper *shaper, uint8_t *const colors[3], size_t count, size_t step);

#endif
