// libpng reports by jumping. The jump lands in the one function that set it and ends there as a status.

#ifndef CIMAGE_PNG_ERROR_H
#define CIMAGE_PNG_ERROR_H

#include <setjmp.h>

#include "CImage.h"
#include <png.h>

/// What both directions of libpng need: where to jump, and what was said.
typedef struct PNGErrors {
  jmp_buf jump;
  CImageMessages *messages;
  /// The status a jump ends with; set beforehand when the cause is not damage.
  CImageStatus status;
} PNGErrors;

/// libpng's error callback. The library's error pointer is a `PNGErrors`.
_Noreturn void cimage_png_error(png_structp png, png_const_charp text);

/// libpng's warning callback.
void cimage_png_warning(png_structp png, png_const_charp text);

/// libpng's allocation callbacks. The library's memory pointer is a `PNGErrors`: what fails for want of memory must not
/// look like damage.
png_voidp cimage_png_malloc(png_structp png, png_alloc_size_t count);
void cimage_png_free(png_structp png, png_voidp memory);

#endif
