#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "kernel.h"

static const double lobes = 3;

static double lanczos(double x) {
  if (x == 0) return 1;
  if (fabs(x) >= lobes) return 0;
  double angle = x * 3.14159265358979323846;
  return lobes * sin(angle) * sin(angle / lobes) / (angle * angle);
}

/// The reach of one target sample, clipped to the source.
typedef struct Window {
  double center, stretch;
  int32_t first, count;
} Window;

static Window window_of(int32_t index, double start, double scale, int32_t sourceCount) {
  Window window;
  window.stretch = scale > 1 ? scale : 1;
  window.center = start + (index + 0.5) * scale;
  double reach = lobes * window.stretch;
  double first = floor(window.center - reach + 0.5), last = floor(window.center + reach + 0.5);
  if (first > sourceCount - 1) first = sourceCount - 1;
  if (first < 0) first = 0;
  if (last > sourceCount) last = sourceCount;
  if (last < first + 1) last = first + 1;
  window.first = (int32_t)first;
  window.count = (int32_t)(last - first);
  return window;
}

/// Fixed-point weights by error diffusion: what rounding takes from one weight goes to the next, so the sum is exact
/// and a flat picture stays flat, however many and however small the weights are.
static void fill_weights(Window window, int16_t *weights) {
  double sum = 0;
  for (int32_t i = 0; i < window.count; i++) {
    sum += lanczos((window.first + i + 0.5 - window.center) / window.stretch);
  }
  double exact = 0;
  int32_t given = 0;
  for (int32_t i = 0; i < window.count; i++) {
    double weight = lanczos((window.first + i + 0.5 - window.center) / window.stretch);
    exact += sum != 0 ? weight / sum : 1.0 / window.count;
    int32_t total = (int32_t)lround(exact * (1 << weightBits));
    weights[i] = (int16_t)(total - given);
    given = total;
  }
}

int cimage_kernel_create(Kernel *kernel, int32_t sourceCount, double start, double end, int32_t targetCount) {
  double scale = (end - start) / targetCount;
  kernel->weights = NULL;
  kernel->taps = calloc((size_t)targetCount, sizeof(Taps));
  if (kernel->taps == NULL) return 0;
  size_t total = 0;
  for (int32_t i = 0; i < targetCount; i++) {
    Window window = window_of(i, start, scale, sourceCount);
    kernel->taps[i] = (Taps){window.first, window.count, total};
    total += (size_t)window.count;
  }
  kernel->weights = malloc(total * sizeof(int16_t));
  if (kernel->weights == NULL) return 0;
  for (int32_t i = 0; i < targetCount; i++) {
    fill_weights(window_of(i, start, scale, sourceCount), kernel->weights + kernel->taps[i].offset);
  }
  return 1;
}

void cimage_kernel_free(Kernel kernel) {
  free(kernel.taps);
  free(kernel.weights);
}
