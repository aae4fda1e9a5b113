// Decodes TIFF images of all colors with libtiff's conversion to RGBA.

#if __has_include(<tiffio.h>)

#include <stdlib.h>

#include "tiff_image.h"

/// Returns true if the pixels of the target are what libtiff writes: numbers whose lowest byte is red.
static bool is_raster(const Target *target) {
  const uint32_t one = 1;
  return target->channels == 4 && (uintptr_t)target->pixels % _Alignof(uint32_t) == 0 && *(const uint8_t *)&one == 1;
}

static void copy_pixels(const uint32_t *raster, size_t count, uint32_t channels, uint8_t *pixels) {
  for (const uint32_t *pixel = raster; pixel != raster + count; pixel++) {
    *pixels++ = (uint8_t)TIFFGetR(*pixel);
    if (channels >= 3) *pixels++ = (uint8_t)TIFFGetG(*pixel);
    if (channels >= 3) *pixels++ = (uint8_t)TIFFGetB(*pixel);
    if (channels == 4) *pixels++ = (uint8_t)TIFFGetA(*pixel);
  }
}

/// Decodes bands. `raster` has room for one; if it is NULL, libtiff writes to the target.
static void decode_bands(TIFFImage *self, Target *target, uint32_t *raster, uint32_t bandRows) {
  size_t rowBytes = (size_t)target->width * target->channels;
  while (target->rowCount < target->height) {
    uint8_t *pixels = target->pixels + target->rowCount * rowBytes;
    uint32_t left = target->height - target->rowCount;
    uint32_t rows = left < bandRows ? left : bandRows;
    self->reader.row_offset = (int)target->rowCount;
    if (!TIFFRGBAImageGet(&self->reader, raster != NULL ? raster : (uint32_t *)(void *)pixels, target->width, rows)) {
      return;
    }
    if (raster != NULL) copy_pixels(raster, (size_t)target->width * rows, target->channels, pixels);
    target->rowCount += rows;
  }
}

bool decode_raster(TIFFImage *self, Target *target) {
  uint32_t bandRows = band_rows(self), *raster = NULL;
  if (!is_raster(target)) {
    raster = malloc((size_t)target->width * bandRows * sizeof *raster);
    if (raster == NULL) return false;
  }
  decode_bands(self, target, raster, bandRows);
  free(raster);
  return true;
}

#endif
