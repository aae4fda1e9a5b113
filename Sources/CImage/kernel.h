// The weights of a resize in one direction.

#ifndef CIMAGE_KERNEL_H
#define CIMAGE_KERNEL_H

#include <stdint.h>

#include "CImage.h"

/// Weights are fixed-point numbers with this many binary places; those of one sample add up to exactly 1.
enum { weightBits = 14 };

/// The source samples that make one target sample: `count` of them from `first`, weighed from `weights[offset]`. Before
/// and behind its weights stands a zero, so that they can be taken two by two from an even sample on.
typedef struct Taps {
  int32_t first, count;
  size_t offset;
} Taps;

/// One entry of `taps` for each target sample.
struct CImageKernel {
  Taps *_Nullable taps;
  int16_t *_Nullable weights;
};

#endif
