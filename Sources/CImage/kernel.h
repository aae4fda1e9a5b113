// The weights of a resize in one direction.

#ifndef CIMAGE_KERNEL_H
#define CIMAGE_KERNEL_H

#include <stdint.h>

#include "CImage.h"

/// Weights are fixed-point numbers with this many binary places; those of one sample add up to exactly 1.
enum { weightBits = 14 };

/// The source samples that make one target sample: `count` of them from `first`, weighed from `weights[offset]`.
typedef struct Taps {
  int32_t first, count;
  size_t offset;
} Taps;

/// One entry for each target sample.
typedef struct Kernel {
  Taps *_Nullable taps;
  int16_t *_Nullable weights;
} Kernel;

/// Weights of `filter` for `targetCount` samples that cover `start` to `end` of `sourceCount` samples.
/// Returns 0 when there is no memory. The caller frees the kernel in any case.
int cimage_kernel_create(Kernel *_Nonnull kernel, CImageFilter filter, int32_t sourceCount, double start, double end,
                         int32_t targetCount);

/// Frees the tables.
void cimage_kernel_free(Kernel kernel);

#endif
