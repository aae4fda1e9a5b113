// Error handling for libpng, which reports errors by longjmp. The function that called setjmp returns a status instead.

#ifndef CIMAGE_PNG_ERROR_H
#define CIMAGE_PNG_ERROR_H

#include <setjmp.h>

#include "CImage.h"
#include <png.h>

/// The target of the jump, and the recorded messages.
typedef struct PNGErrors {
  jmp_buf jump;
  CImageMessages *messages;
  /// The status to return after a jump. Set before the error if the cause is not corrupt data.
  CImageStatus status;
} PNGErrors;

/// libpng's error callback. The library's error pointer is a `PNGErrors`.
_Noreturn void cimage_png_error(png_structp png, png_const_charp text);

/// libpng's warning callback.
void cimage_png_warning(png_structp png, png_const_charp text);

/// libpng's allocation callbacks. The library's memory pointer is a `PNGErrors`, so that a failed allocation is not
/// reported as corrupt data.
png_voidp cimage_png_malloc(png_structp png, png_alloc_size_t count);
void cimage_png_free(png_structp png, png_voidp memory);

#endif
