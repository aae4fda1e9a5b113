// The weights of a resize in one direction.

#ifndef CIMAGE_KERNEL_H
#define CIMAGE_KERNEL_H

#include <stdint.h>

#include "CImage.h"

/// The number of fractional bits of the fixed-point weights. The weights of one target sample add up to exactly 1.
enum { weightBits = 14 };

/// The source samples that contribute to one target sample: `count` samples from `first`, with the weights from
/// `weights[offset]`. A zero precedes and follows those weights, so that they can be read in pairs that start at an
/// even sample.
typedef struct Taps {
  int32_t first, count;
  size_t offset;
} Taps;

/// The taps and weights of a resize in one direction, with one entry of `taps` per target sample.
struct CImageKernel {
  Taps *_Nullable taps;
  int16_t *_Nullable weights;
};

#endif
