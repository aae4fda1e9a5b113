#include "scaler.h"

#include <stdlib.h>

#include "resize_avx2.h"

/// A resize of one plane, which gets its source a few rows at a time.
struct CImageScaler {
  /// One of them is not NULL.
  SampleScaler *samples;
  LightScaler *light;
  CImageArea needed;
  /// The number of source rows that are needed at once.
  int32_t rowCount;
};

/// Extends the samples from `*first` to before `*end` by those that a kernel weighs.
static void add_needed(const CImageKernel *kernel, int32_t targetCount, int32_t *first, int32_t *end) {
  for (int32_t i = 0; i < targetCount; i++) {
    Taps taps = kernel->taps[i];
    if (taps.first < *first) *first = taps.first;
    if (taps.first + taps.count > *end) *end = taps.first + taps.count;
  }
}

static CImageArea needed_area(const CImageKernel *across, const CImageKernel *down, CImageBitmap target) {
  CImageArea area = {INT32_MAX, INT32_MAX, 0, 0};
  add_needed(across, target.width, &area.left, &area.right);
  add_needed(down, target.height, &area.top, &area.bottom);
  // Start at an even column, so that columns can be read in pairs.
  area.left -= area.left & 1;
  return area;
}

static int32_t rows_needed_at_once(const CImageKernel *down, int32_t height) {
  int32_t most = 1;
  for (int32_t y = 0; y < height; y += band) {
    Taps last = down->taps[y + band < height ? y + band - 1 : height - 1];
    int32_t count = last.first + last.count - down->taps[y].first;
    if (count > most) most = count;
  }
  return most;
}

CImageScaler *cimage_scaler_create(const CImageKernel *across, const CImageKernel *down, CImageLight light,
                                   CImageBitmap target) {
  CImageScaler *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->needed = needed_area(across, down, target);
  NeededColumns columns = {(size_t)self->needed.left * (size_t)target.channels,
                           (size_t)(self->needed.right - self->needed.left) * (size_t)target.channels};
  Resize resize = {target, across, down, columns};
  if (light == CImageLightLinear) {
    self->light = cimage_light_scaler_create(resize);
    self->rowCount = 1;
  } else {
    self->samples = cimage_sample_scaler_create(resize);
    self->rowCount = rows_needed_at_once(down, target.height);
  }
  if (self->light != NULL || self->samples != NULL) return self;
  free(self);
  return NULL;
}

void cimage_scaler_destroy(CImageScaler *self) {
  if (self == NULL) return;
  cimage_sample_scaler_destroy(self->samples);
  cimage_light_scaler_destroy(self->light);
  free(self);
}

CImageArea cimage_scaler_needed(const CImageScaler *self) { return self->needed; }

int32_t cimage_scaler_row_count(const CImageScaler *self) { return self->rowCount; }

void cimage_scaler_advance(CImageScaler *self, CImageBitmap rows, int32_t first) {
  if (self->light != NULL) {
    cimage_light_scaler_advance(self->light, rows, first);
  } else {
    cimage_sample_scaler_advance(self->samples, rows, first);
  }
}

int32_t cimage_scaler_first_row(const CImageScaler *self) {
  return self->light != NULL ? cimage_light_scaler_first_row(self->light)
                             : cimage_sample_scaler_first_row(self->samples);
}
