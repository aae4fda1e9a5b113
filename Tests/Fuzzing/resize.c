// Resizes arbitrary pixels, with crops that extend past the edges. Strips of any heights must give the same result as
// the whole image, and so must plain C and AVX2.

#include <stdbool.h>

#include "image.h"

/// True while the code for AVX2 is not used.
static bool isPlain;

bool __real_cimage_has_avx2(void);

/// Called instead of `cimage_has_avx2`, because of an option of the linker.
bool __wrap_cimage_has_avx2(void) { return !isPlain && __real_cimage_has_avx2(); }

/// The numbers that the first bytes of the input choose.
typedef struct Choices {
  uint8_t width, height, targetWidth, targetHeight, channels, filter, light, strip;
  /// The area, in quarters of a sample.
  int8_t left, top, right, bottom;
} Choices;

static void resize(const Choices *choices, CImageBitmap source, const CImageKernel *across, const CImageKernel *down,
                   int32_t stripRows, CImageBitmap target) {
  CImageLight light = choices->light & 1 ? CImageLightLinear : CImageLightPerceptual;
  CImageScaler *scaler = cimage_scaler_create(across, down, light, target);
  if (scaler == NULL) abort();
  for (int32_t end = stripRows; cimage_scaler_first_row(scaler) != INT32_MAX; end += stripRows) {
    if (end - stripRows >= source.height) abort();
    // A separate allocation, so that the sanitizer sees every access outside the rows that are needed.
    int32_t first = cimage_scaler_first_row(scaler), last = end < source.height ? end : source.height;
    if (first >= last) continue;
    size_t count = source.stride * (size_t)(last - first);
    CImageBitmap rows = {malloc(count), source.width, last - first, source.channels, source.stride};
    memcpy(rows.pixels, source.pixels + (size_t)first * source.stride, count);
    cimage_scaler_advance(scaler, rows, first);
    free(rows.pixels);
  }
  cimage_scaler_destroy(scaler);
}

/// Creates a kernel for the samples from `start` to `size + end`, in quarters, which are moved into the valid range.
static CImageKernel *kernel(const Choices *choices, int32_t size, int8_t start, int8_t end, int32_t targetSize) {
  double from = start < -3 ? -0.75 : start / 4.0, to = size + (end > 3 ? 0.75 : end / 4.0);
  if (from > size - 0.25) from = size - 0.25;
  if (to < from + 0.25) to = from + 0.25;
  return cimage_kernel_create((CImageFilter)(choices->filter % 4), size, from, to, targetSize);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  Choices choices;
  if (count < sizeof choices + 1) return 0;
  memcpy(&choices, bytes, sizeof choices);
  FuzzImage image = fuzz_image(1 + choices.width % 128, 1 + choices.height % 128, 1 + choices.channels % 4);
  CImageBitmap source = image.bitmap;
  for (size_t i = 0; i < source.stride * (size_t)source.height; i++) {
    source.pixels[i] = bytes[sizeof choices + i % (count - sizeof choices)];
  }
  FuzzImage whole = fuzz_image(1 + choices.targetWidth % 80, 1 + choices.targetHeight % 80, source.channels);
  FuzzImage strips = fuzz_image(whole.bitmap.width, whole.bitmap.height, source.channels);
  CImageKernel *across = kernel(&choices, source.width, choices.left, choices.right, whole.bitmap.width);
  CImageKernel *down = kernel(&choices, source.height, choices.top, choices.bottom, whole.bitmap.height);
  resize(&choices, source, across, down, source.height, whole.bitmap);
  resize(&choices, source, across, down, 1 + choices.strip % 40, strips.bitmap);
  if (!fuzz_same(whole.bitmap, strips.bitmap)) abort();
  isPlain = true;
  resize(&choices, source, across, down, source.height, strips.bitmap);
  isPlain = false;
  if (!fuzz_same(whole.bitmap, strips.bitmap)) abort();
  cimage_kernel_destroy(across);
  cimage_kernel_destroy(down);
  free(whole.bitmap.pixels);
  free(strips.bitmap.pixels);
  free(source.pixels);
  return 0;
}
