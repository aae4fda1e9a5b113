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
} FuzzImage;

/// Allocates an image; the caller frees its pixels.
static inline FuzzImage fuzz_image(int32_t width, int32_t height, int32_t channels) {
  size_t stride = (size_t)width * (size_t)channels;
  return (FuzzImage){{malloc(stride * (size_t)height), width, height, channels, stride}, 0};
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

static inline CImageRowSink fuzz_sink(FuzzImage *image) { return (CImageRowSink){image, fuzz_take}; }

static inline int fuzz_same(CImageBitmap a, CImageBitmap b) {
  return memcmp(a.pixels, b.pixels, a.stride * (size_t)a.height) == 0;
}

#endif
