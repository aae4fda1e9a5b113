#include "light.h"

#include <math.h>
#include <pthread.h>

static LightTables tables;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/// The sRGB transfer function in both directions.
static double light_of(double s) { return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4); }
static double sample_of(double l) { return l <= 0.0031308 ? l * 12.92 : 1.055 * pow(l, 1 / 2.4) - 0.055; }

static void fill_tables(void) {
  for (int i = 0; i < 256; i++) tables.lights[i] = (float)light_of(i / 255.0);
  for (int i = 0; i <= lightSteps; i++) {
    tables.samples[i] = (uint8_t)(255 * sample_of((double)i / lightSteps) + 0.5);
  }
}

const LightTables *cimage_light_tables(void) {
  pthread_once(&once, fill_tables);
  return &tables;
}
