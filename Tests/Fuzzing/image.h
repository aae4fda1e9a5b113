// Collects decoded rows.

#ifndef FUZZING_IMAGE_H
#define FUZZING_IMAGE_H

#include <stdlib.h>
#include <string.h>

#include "CImage.h"

/// A whole image, and the number of its rows so far.
typedef struct FuzzImage {
  CImageBitmap bitmap;
  int32_t count;
  /// The part that is requested.
  CImageArea needed;
} FuzzImage;

/// Allocates an image; the caller frees its pixels.
static inline FuzzImage fuzz_image(int32_t width, int32_t height, int32_t channels) {
  size_t stride = (size_t)width * (size_t)channels;
  CImageBitmap bitmap = {malloc(stride * (size_t)height), width, height, channels, stride};
  return (FuzzImage){bitmap, 0, {0, 0, width, height}};
}

/// Appends rows. Stops the program if there are too many or if they have another form.
static inline CImageStatus fuzz_take(void *context, const CImageBitmap *rows) {
  FuzzImage *self = context;
  CImageBitmap all = self->bitmap;
  if (rows->width != all.width || rows->channels != all.channels || self->count + rows->height > all.height) abort();
  for (int32_t y = 0; y < rows->height; y++) {
    memcpy(all.pixels + (size_t)(self->count + y) * all.stride, rows->pixels + (size_t)y * rows->stride, all.stride);
  }
  self->count += rows->height;
  return CImageStatusOK;
}

/// Keeps the memory of omitted rows as it is.
static inline void fuzz_skip(void *context, const int32_t *counts) {
  FuzzImage *self = context;
  self->count += counts[0];
  if (self->count > self->bitmap.height) abort();
}

static inline CImageArea fuzz_needed(void *context, int32_t plane) {
  (void)plane;
  return ((const FuzzImage *)context)->needed;
}

static inline CImageRowSink fuzz_sink(FuzzImage *image) {
  return (CImageRowSink){image, fuzz_needed, fuzz_skip, fuzz_take};
}

static inline int fuzz_same(CImageBitmap a, CImageBitmap b) {
  return memcmp(a.pixels, b.pixels, a.stride * (size_t)a.height) == 0;
}

/// Returns true if two images of the same size have the same samples in `area`.
static inline int fuzz_same_area(CImageBitmap a, CImageBitmap b, CImageArea area) {
  size_t left = (size_t)area.left * (size_t)a.channels, count = (size_t)(area.right - area.left) * (size_t)a.channels;
  for (int32_t y = area.top; y < area.bottom; y++) {
    size_t offset = (size_t)y * a.stride + left;
    if (memcmp(a.pixels + offset, b.pixels + offset, count) != 0) return 0;
  }
  return 1;
}

#endif
