// A separable resize in linear light, in floating point because bytes have too few steps for dark tones.
//
// Each source row is converted to light once, and added to the sums of all target rows that it contributes to. A target
// row whose sums are complete is then filtered along the row.

#include <stdlib.h>
#include <string.h>

#include "light.h"
#include "scaler.h"

// A product and a sum must not be fused, as processors other than x86-64 can, so that all give the same pixels.
#pragma STDC FP_CONTRACT OFF

struct LightScaler {
  Resize resize;
  /// The next row of the source, and the next row of the target.
  int32_t row, next;
  const LightTables *tables;
  /// One source row as premultiplied light.
  float *converted;
  /// The sums of `sumCount` target rows. Those of row y are at `y % sumCount`.
  float *sums;
  int32_t sumCount;
};

static bool has_alpha(int32_t channels) { return channels == 2 || channels == 4; }

/// Converts the needed samples of a source row to light, premultiplied by alpha.
static void read_row(const LightScaler *self, const uint8_t *in) {
  int32_t channels = self->resize.target.channels;
  int colors = channels - has_alpha(channels);
  const uint8_t *end = in + self->resize.columns.count;
  for (float *out = self->converted; in < end; in += channels) {
    float alpha = has_alpha(channels) ? in[colors] / 255.0f : 1;
    for (int i = 0; i < colors; i++) *out++ = self->tables->lights[in[i]] * alpha;
    if (has_alpha(channels)) *out++ = alpha;
  }
}

static float *sums_of(const LightScaler *self, int32_t y) {
  return self->sums + (size_t)(y % self->sumCount) * self->resize.columns.count;
}

/// First pass: adds the converted row to the target row `y`.
static void add_row(const LightScaler *self, int32_t y) {
  Taps taps = self->resize.down->taps[y];
  size_t count = self->resize.columns.count;
  float *sums = sums_of(self, y);
  if (self->row == taps.first) memset(sums, 0, count * sizeof(float));
  float weight = self->resize.down->weights[taps.offset + (size_t)(self->row - taps.first)] / (float)(1 << weightBits);
  for (size_t i = 0; i < count; i++) sums[i] += weight * self->converted[i];
}

static float clamped(float value) { return value > 1 ? 1 : value > 0 ? value : 0; }

static void write_pixel(const LightTables *tables, const float *sums, int32_t channels, uint8_t *out) {
  int colors = channels - has_alpha(channels);
  float alpha = has_alpha(channels) ? clamped(sums[colors]) : 1;
  for (int i = 0; i < colors; i++) {
    float light = alpha > 0 ? clamped(sums[i] / alpha) : 0;
    out[i] = sample_of_light(tables, light);
  }
  if (has_alpha(channels)) out[colors] = (uint8_t)(alpha * 255 + 0.5f);
}

/// Second pass: one finished row.
static void finish_row(const LightScaler *self, int32_t y) {
  CImageBitmap target = self->resize.target;
  uint8_t *out = target.pixels + (size_t)y * target.stride;
  for (int32_t x = 0; x < target.width; x++, out += target.channels) {
    Taps taps = self->resize.across->taps[x];
    float sums[4] = {0};
    const float *in = sums_of(self, y) + (size_t)taps.first * (size_t)target.channels - self->resize.columns.first;
    for (int32_t k = 0; k < taps.count; k++, in += target.channels) {
      float weight = self->resize.across->weights[taps.offset + (size_t)k] / (float)(1 << weightBits);
      for (int i = 0; i < target.channels; i++) sums[i] += weight * in[i];
    }
    write_pixel(self->tables, sums, target.channels, out);
  }
}

/// Adds the converted row to all target rows that need it, and finishes those for which it is the last one.
static void use_row(LightScaler *self) {
  for (int32_t y = self->next; y < self->resize.target.height; y++) {
    Taps taps = self->resize.down->taps[y];
    if (taps.first > self->row) break;
    add_row(self, y);
    if (taps.first + taps.count > self->row + 1) continue;
    finish_row(self, y);
    self->next = y + 1;
  }
}

void cimage_light_scaler_advance(LightScaler *self, CImageBitmap rows, int32_t first) {
  for (self->row = cimage_light_scaler_first_row(self); self->row < first + rows.height;) {
    read_row(self, rows.pixels + (size_t)(self->row - first) * rows.stride + self->resize.columns.first);
    use_row(self);
    self->row += 1;
    if (self->next == self->resize.target.height) return;
  }
}

int32_t cimage_light_scaler_first_row(const LightScaler *self) {
  if (self->next == self->resize.target.height) return INT32_MAX;
  int32_t first = self->resize.down->taps[self->next].first;
  return self->row > first ? self->row : first;
}

/// Returns the largest number of target rows that one source row contributes to.
static int32_t overlap(const Taps *taps, int32_t height) {
  int32_t most = 1;
  for (int32_t y = 0, end = 0; y < height; y++) {
    while (end < height && taps[end].first < taps[y].first + taps[y].count) end += 1;
    if (end - y > most) most = end - y;
  }
  return most;
}

LightScaler *cimage_light_scaler_create(Resize resize) {
  LightScaler *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->resize = resize;
  self->sumCount = overlap(resize.down->taps, resize.target.height);
  self->converted = malloc(resize.columns.count * sizeof(float));
  self->sums = malloc((size_t)self->sumCount * resize.columns.count * sizeof(float));
  if (self->converted == NULL || self->sums == NULL) {
    cimage_light_scaler_destroy(self);
    return NULL;
  }
  self->tables = cimage_light_tables();
  return self;
}

void cimage_light_scaler_destroy(LightScaler *self) {
  if (self == NULL) return;
  free(self->converted);
  free(self->sums);
  free(self);
}
