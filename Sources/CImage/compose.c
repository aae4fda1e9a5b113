// Draws the frames of animations on their canvas.

#include <stddef.h>
#include <string.h>

#include "CImage.h"

/// Converts a pixel of any channels to red, green, blue and alpha.
static inline void expand(const uint8_t *pixel, int32_t channels, uint8_t *samples) {
  int isGray = channels < 3;
  samples[0] = pixel[0];
  samples[1] = isGray ? pixel[0] : pixel[1];
  samples[2] = isGray ? pixel[0] : pixel[2];
  samples[3] = channels % 2 ? 255 : pixel[channels - 1];
}

/// Draws a pixel over another one (PNG Specification, third edition, section 13.16), rounding to nearest. Straight
/// alpha; weights are in units of 1/255 of the alpha.
static inline void blend(const uint8_t *over, uint8_t *target) {
  uint32_t front = 255u * over[3];
  uint32_t back = (255u - over[3]) * target[3];
  uint32_t sum = front + back;
  for (int channel = 0; channel < 3; channel++) {
    target[channel] = (uint8_t)((front * over[channel] + back * target[channel] + sum / 2) / sum);
  }
  target[3] = (uint8_t)((sum + 127) / 255);
}

static void compose_row(const uint8_t *pixel, int32_t channels, uint8_t *target, int32_t count, int32_t isOver) {
  uint8_t samples[4];
  for (int32_t x = 0; x < count; x++, pixel += channels, target += 4) {
    expand(pixel, channels, samples);
    if (!isOver || samples[3] == 255) {
      memcpy(target, samples, 4);
    } else if (samples[3] > 0) {
      blend(samples, target);
    }
  }
}

void cimage_compose(CImageBitmap source, CImageBitmap target, int32_t isOver) {
  for (int32_t y = 0; y < target.height; y++) {
    const uint8_t *row = source.pixels + (size_t)y * source.stride;
    compose_row(row, source.channels, target.pixels + (size_t)y * target.stride, target.width, isOver);
  }
}
