// The light of sRGB samples (IEC 61966-2-1).

#ifndef CIMAGE_LIGHT_H
#define CIMAGE_LIGHT_H

#include <stdint.h>

/// The number of steps in the table from light to sRGB: enough to keep the darkest tones apart, where the slope of the
/// curve is 12.92.
enum { lightSteps = 16384 };

/// The tables from samples to light, 0 to 1, and back.
typedef struct LightTables {
  float lights[256];
  uint8_t samples[lightSteps + 1];
} LightTables;

/// Returns the tables, which are made once.
const LightTables *cimage_light_tables(void);

/// Returns the sample of light from 0 to 1.
static inline uint8_t sample_of_light(const LightTables *tables, float light) {
  return tables->samples[(int)(light * lightSteps + 0.5f)];
}

#endif
