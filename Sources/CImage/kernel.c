#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "kernel.h"

// A product and a sum must not be fused, as processors other than x86-64 can, so that all give the same pixels.
#pragma STDC FP_CONTRACT OFF

static double lanczos3(double x) {
  if (x == 0) return 1;
  if (x >= 3) return 0;
  double angle = x * 3.14159265358979323846;
  return 3 * sin(angle) * sin(angle / 3) / (angle * angle);
}

/// A cubic of Mitchell and Netravali, "Reconstruction Filters in Computer Graphics" (1988), equation 8.
static double cubic(double x, double b, double c) {
  if (x < 1) return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + (6 - 2 * b)) / 6;
  if (x < 2) return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + 8 * b + 24 * c) / 6;
  return 0;
}

static double reach_of(CImageFilter filter) {
  switch (filter) {
    case CImageFilterLanczos3: return 3;
    case CImageFilterMitchell:
    case CImageFilterCubic: return 2;
    case CImageFilterBox: return 0.5;
  }
}

/// Returns the weight of a sample at distance `x` from the center, in target samples.
static double weight_at(double x, CImageFilter filter) {
  switch (filter) {
    case CImageFilterLanczos3: return lanczos3(fabs(x));
    case CImageFilterMitchell: return cubic(fabs(x), 1.0 / 3, 1.0 / 3);
    case CImageFilterCubic: return cubic(fabs(x), 0, 0.5);
    // Half-open, so that a sample on the border of two windows belongs to only one of them.
    case CImageFilterBox: return x > -0.5 && x <= 0.5 ? 1 : 0;
  }
}

/// The source samples within reach of one target sample, clipped to the source.
typedef struct Window {
  double center, stretch;
  int32_t first, count;
} Window;

static Window window_of(int32_t index, CImageFilter filter, double start, double scale, int32_t sourceCount) {
  Window window;
  window.stretch = scale > 1 ? scale : 1;
  window.center = start + (index + 0.5) * scale;
  double reach = reach_of(filter) * window.stretch;
  double first = floor(window.center - reach + 0.5), last = floor(window.center + reach + 0.5);
  if (first > sourceCount - 1) first = sourceCount - 1;
  if (first < 0) first = 0;
  if (last > sourceCount) last = sourceCount;
  if (last < first + 1) last = first + 1;
  window.first = (int32_t)first;
  window.count = (int32_t)(last - first);
  return window;
}

/// Computes fixed-point weights with error diffusion: the rounding error of one weight carries over to the next, so the
/// sum is exact and a flat image stays flat, no matter how many or how small the weights are. `exact` is scratch space
/// for `window.count` numbers.
static void fill_weights(Window window, CImageFilter filter, double *exact, int16_t *weights) {
  double sum = 0;
  for (int32_t i = 0; i < window.count; i++) {
    exact[i] = weight_at((window.first + i + 0.5 - window.center) / window.stretch, filter);
    sum += exact[i];
  }
  double wanted = 0;
  int32_t given = 0;
  for (int32_t i = 0; i < window.count; i++) {
    wanted += sum != 0 ? exact[i] / sum : 1.0 / window.count;
    int32_t total = (int32_t)lround(wanted * (1 << weightBits));
    weights[i] = (int16_t)(total - given);
    given = total;
  }
}

/// Computes the taps and allocates the weights. Returns the number of weights of the widest window; 0 if memory runs
/// out.
static size_t fill_taps(CImageKernel *kernel, CImageFilter filter, int32_t sourceCount, double start, double scale,
                        int32_t targetCount) {
  kernel->taps = malloc((size_t)targetCount * sizeof(Taps));
  if (kernel->taps == NULL) return 0;
  size_t total = 1, most = 0;
  for (int32_t i = 0; i < targetCount; i++) {
    Window window = window_of(i, filter, start, scale, sourceCount);
    kernel->taps[i] = (Taps){window.first, window.count, total};
    total += (size_t)window.count + 1;
    if ((size_t)window.count > most) most = (size_t)window.count;
  }
  kernel->weights = calloc(total, sizeof(int16_t));
  return kernel->weights != NULL ? most : 0;
}

CImageKernel *cimage_kernel_create(CImageFilter filter, int32_t sourceCount, double start, double end,
                                   int32_t targetCount) {
  double scale = (end - start) / targetCount;
  CImageKernel *kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL) return NULL;
  size_t most = fill_taps(kernel, filter, sourceCount, start, scale, targetCount);
  double *exact = most > 0 ? malloc(most * sizeof(double)) : NULL;
  if (exact == NULL) {
    cimage_kernel_destroy(kernel);
    return NULL;
  }
  for (int32_t i = 0; i < targetCount; i++) {
    Window window = window_of(i, filter, start, scale, sourceCount);
    fill_weights(window, filter, exact, kernel->weights + kernel->taps[i].offset);
  }
  free(exact);
  return kernel;
}

void cimage_kernel_destroy(CImageKernel *kernel) {
  if (kernel == NULL) return;
  free(kernel->taps);
  free(kernel->weights);
  free(kernel);
}
