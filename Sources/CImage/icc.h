// Color conversion for the decoders, one row at a time.

#ifndef CIMAGE_ICC_H
#define CIMAGE_ICC_H

#include <lcms2.h>

#include "CImage.h"

/// Converts `count` pixels from `source` to `target`, which may be the same memory if the pixels have the same size.
void cimage_transform_row(const CImageTransform *transform, const uint8_t *source, uint8_t *target, size_t count);

/// Creates the profile of an encoding. Returns NULL if the encoding is impossible or memory runs out.
cmsHPROFILE cimage_profile_of(cmsContext context, CImageColorEncoding encoding, CImageColorModel model);

#endif
