// Helps the decoders with errors, warnings, sizes and alpha, and keeps memory between images.

#include "CDecoder.h"
#include "session.h"

#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool check_size(uint64_t width, uint64_t height, const Limits *limits, DecodeStatus *status, DecodeText *text) {
  if (width == 0 || height == 0) {
    *status = fail(DecodeStatusCorrupt, text, "the header declares an empty image");
    return false;
  }
  bool isSmall = width <= limits->side && height <= limits->side && width <= limits->pixels / height;
  if (!isSmall) {
    *status = fail(
        DecodeStatusTooManyPixels, text, "the image is %llux%llu pixels", (unsigned long long)width,
        (unsigned long long)height);
  }
  return isSmall;
}

/// The largest side of a surface of cairo.
enum { longestSide = 32767 };

/// Returns the factor by which an image is within the limits.
static double limit_scale(double width, double height, const Limits *limits) {
  double scale = fmin(1, fmin(limits->side, longestSide) / fmax(width, height));
  double pixels = width * height;
  return pixels > (double)limits->pixels ? fmin(scale, sqrt((double)limits->pixels / pixels)) : scale;
}

/// Replaces a size by one of whole pixels that has its proportions, to 1 in 10,000, and is hardly larger if possible:
/// rounded up, 1.2 x 0.8 pixels would be a square of 2 x 1.
static void make_whole(double *width, double *height) {
  enum { longest = 8192 };
  const double proportion = *width / *height;
  double best = HUGE_VAL;
  for (double rows = ceil(*height), limit = fmax(rows, longest); rows <= limit && best > 1e-4; rows++) {
    double columns = fmax(1, round(rows * proportion));
    double error = fabs(columns / (rows * proportion) - 1);
    if (error >= best) continue;
    best = error;
    *width = columns;
    *height = rows;
  }
}

DecodeStatus declare_vector(
    double width, double height, const Limits *limits, DecodeHeader *header, DecodeText *text) {
  DecodeStatus status = DecodeStatusOK;
  if (!isfinite(width) || !isfinite(height) || width <= 0 || height <= 0) {
    return fail(DecodeStatusCorrupt, text, "the image has no size");
  }
  make_whole(&width, &height);
  double scale = limit_scale(width, height, limits);
  header->width = (uint32_t)fmax(1, floor(width * scale));
  header->height = (uint32_t)fmax(1, floor(height * scale));
  header->isVector = 1;
  check_size(header->width, header->height, limits, &status, text);
  return status;
}

DecodeStatus fail(DecodeStatus status, DecodeText *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text->error, sizeof text->error, format, arguments);
  va_end(arguments);
  return status;
}

void add_warning(DecodeText *text, const char *warning) {
  size_t used = strlen(text->warnings), count = strlen(warning);
  if (count == 0 || strstr(text->warnings, warning) || used + count + 2 > sizeof text->warnings) return;
  memcpy(text->warnings + used, warning, count);
  memcpy(text->warnings + used + count, "\n", 2);
}

uint32_t accepted_profile(size_t count, DecodeText *text) {
  enum { maxBytes = 4 << 20 };
  if (count <= maxBytes) return (uint32_t)count;
  add_warning(text, "the ICC profile is too large");
  return 0;
}

void unpremultiply(uint8_t *pixels, size_t count) {
  for (uint8_t *pixel = pixels; pixel < pixels + count * 4; pixel += 4) {
    unsigned alpha = pixel[3];
    if (alpha == 255) continue;
    for (int channel = 0; channel < 3; channel++) {
      unsigned value = alpha ? (pixel[channel] * 255u + alpha / 2) / alpha : 0;
      pixel[channel] = (uint8_t)(value < 255 ? value : 255);
    }
  }
}

void unpremultiply_gray(uint8_t *pixels, size_t count) {
  for (uint8_t *pixel = pixels; pixel < pixels + count * 2; pixel += 2) {
    unsigned alpha = pixel[1];
    unsigned level = alpha ? (pixel[0] * 255u + alpha / 2) / alpha : 0;
    pixel[0] = (uint8_t)(level < 255 ? level : 255);
  }
}

// MARK: Memory

// The free memory that stays for the next image.
enum { KEPT = 32 << 20 };

void keep_memory(void) {
  mallopt(M_MMAP_THRESHOLD, KEPT);
  mallopt(M_TRIM_THRESHOLD, KEPT);
}

void trim_memory(void) {
  // glibc trims only the end of the heap by itself, where a small block is enough to keep all before it.
  if (mallinfo2().fordblks > KEPT) malloc_trim(KEPT);
}

bool can_open_fonts(void) {
  static const char *const folders[] = {"/usr/share/fonts", "/usr/local/share/fonts"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    int folder = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) continue;
    close(folder);
    return true;
  }
  return false;
}
