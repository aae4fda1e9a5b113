// A separable resize in linear light, in floating point because bytes have too few steps for dark tones.
//
// The first pass computes a target row as a weighted sum of source rows, still as wide as the source. The second pass
// computes each target sample as a weighted sum along that row.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "CImage.h"
#include "kernel.h"

/// The number of steps in the table from light to sRGB: enough to keep the darkest tones apart, where the slope of the
/// curve is 12.92.
enum { lightSteps = 16384 };

/// The state shared by both passes.
typedef struct Linear {
  CImageBitmap source, target;
  const CImageKernel *down, *across;
  /// The table from sRGB samples to light, and the table back.
  float *light;
  uint8_t *samples;
  /// One source row as premultiplied light, and a weighted sum of such rows.
  float *row, *sums;
} Linear;

/// The sRGB transfer function (IEC 61966-2-1) in both directions.
static double light_of(double s) { return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4); }
static double sample_of(double l) { return l <= 0.0031308 ? l * 12.92 : 1.055 * pow(l, 1 / 2.4) - 0.055; }

static void fill_tables(Linear *self) {
  for (int i = 0; i < 256; i++) self->light[i] = (float)light_of(i / 255.0);
  for (int i = 0; i <= lightSteps; i++) {
    self->samples[i] = (uint8_t)(255 * sample_of((double)i / lightSteps) + 0.5);
  }
}

static int has_alpha(CImageBitmap bitmap) { return bitmap.channels == 2 || bitmap.channels == 4; }

/// Reads a source row as light, premultiplied by alpha.
static void read_row(const Linear *self, int32_t y) {
  const uint8_t *in = self->source.pixels + (size_t)y * self->source.stride;
  int colors = self->source.channels - has_alpha(self->source);
  float *out = self->row;
  for (int32_t x = 0; x < self->source.width; x++) {
    float alpha = has_alpha(self->source) ? in[colors] / 255.0f : 1;
    for (int i = 0; i < colors; i++) *out++ = self->light[in[i]] * alpha;
    if (has_alpha(self->source)) *out++ = alpha;
    in += self->source.channels;
  }
}

/// First pass: one target row, still as wide as the source.
static void sum_rows(const Linear *self, int32_t y) {
  Taps taps = self->down->taps[y];
  size_t count = (size_t)self->source.width * (size_t)self->source.channels;
  memset(self->sums, 0, count * sizeof(float));
  for (int32_t k = 0; k < taps.count; k++) {
    read_row(self, taps.first + k);
    float weight = self->down->weights[taps.offset + (size_t)k] / (float)(1 << weightBits);
    for (size_t i = 0; i < count; i++) self->sums[i] += weight * self->row[i];
  }
}

static float clamped(float value) { return value > 1 ? 1 : value > 0 ? value : 0; }

static void write_pixel(const Linear *self, const float *sums, uint8_t *out) {
  int colors = self->target.channels - has_alpha(self->target);
  float alpha = has_alpha(self->target) ? clamped(sums[colors]) : 1;
  for (int i = 0; i < colors; i++) {
    float light = alpha > 0 ? clamped(sums[i] / alpha) : 0;
    out[i] = self->samples[(int)(light * lightSteps + 0.5f)];
  }
  if (has_alpha(self->target)) out[colors] = (uint8_t)(alpha * 255 + 0.5f);
}

/// Second pass: one finished row.
static void sum_columns(const Linear *self, int32_t y) {
  int channels = self->target.channels;
  uint8_t *out = self->target.pixels + (size_t)y * self->target.stride;
  for (int32_t x = 0; x < self->target.width; x++, out += channels) {
    Taps taps = self->across->taps[x];
    float sums[4] = {0};
    const float *in = self->sums + (size_t)taps.first * (size_t)channels;
    for (int32_t k = 0; k < taps.count; k++, in += channels) {
      float weight = self->across->weights[taps.offset + (size_t)k] / (float)(1 << weightBits);
      for (int i = 0; i < channels; i++) sums[i] += weight * in[i];
    }
    write_pixel(self, sums, out);
  }
}

static CImageStatus run(Linear *self) {
  size_t count = (size_t)self->source.width * (size_t)self->source.channels;
  if ((self->light = malloc(256 * sizeof(float))) == NULL || (self->samples = malloc(lightSteps + 1)) == NULL ||
      (self->row = malloc(count * sizeof(float))) == NULL || (self->sums = malloc(count * sizeof(float))) == NULL) {
    return CImageStatusOutOfMemory;
  }
  fill_tables(self);
  for (int32_t y = 0; y < self->target.height; y++) {
    sum_rows(self, y);
    sum_columns(self, y);
  }
  return CImageStatusOK;
}

CImageStatus cimage_resize_linear(CImageBitmap source, const CImageKernel *across, const CImageKernel *down,
                                  CImageBitmap target) {
  Linear self = {.source = source, .target = target, .across = across, .down = down};
  CImageStatus status = run(&self);
  free(self.light);
  free(self.samples);
  free(self.row);
  free(self.sums);
  return status;
}
