// Functions of the C library that the archives of the release use and glibc 2.34 does not have, or not in the version
// that newer headers name. The release is linked with them, so it needs no newer glibc.

#include <math.h>
#include <stdint.h>
#include <sys/random.h>

// Since 2.36.
uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {}
  return value;
}

// A newer version since 2.35. The wider type keeps the sum of the squares from overflowing.
double hypot(double x, double y) {
  if (isinf(x) || isinf(y)) return INFINITY;
  return (double)sqrtl((long double)x * x + (long double)y * y);
}

float hypotf(float x, float y) {
  if (isinf(x) || isinf(y)) return INFINITY;
  return (float)sqrt((double)x * x + (double)y * y);
}

// Since 2.35. The unwinder of libgcc calls it; the release has no tables for it to find.
int _dl_find_object(void *address, void *result) {
  (void)address;
  (void)result;
  return -1;
}
