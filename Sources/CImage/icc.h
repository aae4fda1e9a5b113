// Color conversion for the decoders, one row at a time.

#ifndef CIMAGE_ICC_H
#define CIMAGE_ICC_H

#include "CImage.h"

/// Converts `count` pixels from `source` to `target`, which may be the same memory if the pixels have the same size.
void cimage_transform_row(const CImageTransform *transform, const uint8_t *source, uint8_t *target, size_t count);

/// Converts `count` pixels in place, whose red, green and blue are separate. The transform's model must be RGB.
void cimage_transform_channels(const CImageTransform *transform, uint8_t *const colors[3], size_t count);

#endif
