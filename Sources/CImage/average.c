#include "CImage.h"
#include "simd.h"

enum { MAX_SUMS = 8192 };

/// Adds `count` samples to sums, which compilers turn into vectors.
WITH_AVX2 static void add_row(const uint8_t *restrict samples, uint32_t *restrict sums, size_t count) {
  for (size_t i = 0; i < count; i++) sums[i] += samples[i];
}

/// Writes the means of cells whose columns are added up already.
static void write_means(const uint32_t *sums, size_t cellWidth, size_t cellHeight, size_t channels, uint8_t *target,
                        size_t count) {
  uint32_t area = (uint32_t)(cellWidth * cellHeight);
  for (size_t cell = 0; cell < count; cell++, sums += cellWidth * channels) {
    for (size_t channel = 0; channel < channels; channel++) {
      uint32_t sum = area / 2;
      for (size_t x = 0; x < cellWidth; x++) sum += sums[x * channels + channel];
      *target++ = (uint8_t)(sum / area);
    }
  }
}

/// Averages a row of cells, some of them at a time.
static void average_row(const uint8_t *source, size_t stride, size_t cellWidth, size_t cellHeight, size_t channels,
                        uint8_t *target, size_t count) {
  size_t most = MAX_SUMS / (cellWidth * channels);
  while (count > 0) {
    size_t cells = count < most ? count : most, samples = cells * cellWidth * channels;
    uint32_t sums[MAX_SUMS];
    for (size_t i = 0; i < samples; i++) sums[i] = 0;
    for (size_t y = 0; y < cellHeight; y++) add_row(source + y * stride, sums, samples);
    write_means(sums, cellWidth, cellHeight, channels, target, cells);
    source += samples;
    target += cells * channels;
    count -= cells;
  }
}

void cimage_average(CImageBitmap source, int32_t cellWidth, int32_t cellHeight, CImageBitmap target) {
  size_t channels = (size_t)source.channels;
  size_t left = (size_t)(source.width - cellWidth * target.width) / 2;
  size_t top = (size_t)(source.height - cellHeight * target.height) / 2;
  for (int32_t y = 0; y < target.height; y++) {
    const uint8_t *row = source.pixels + (top + (size_t)y * (size_t)cellHeight) * source.stride + left * channels;
    average_row(row, source.stride, (size_t)cellWidth, (size_t)cellHeight, channels,
                target.pixels + (size_t)y * target.stride, (size_t)target.width);
  }
}
