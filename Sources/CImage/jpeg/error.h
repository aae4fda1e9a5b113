// Error handling for libjpeg, which reports errors by longjmp. The function that called setjmp returns a status
// instead.

#ifndef CIMAGE_JPEG_ERROR_H
#define CIMAGE_JPEG_ERROR_H

#include <setjmp.h>
#include <stdbool.h>

#include "CImage.h"
// jpeglib.h uses size_t and FILE without declaring them.
#include <stdio.h>
#include <jpeglib.h>

// The number of samples per side of a decoded block. libjpeg 7 and later, whose API Ubuntu's libjpeg-turbo emulates,
// has one number per direction; libjpeg 6b has one for both.
#if JPEG_LIB_VERSION >= 70
#define SAMPLES_ACROSS(component) ((component)->DCT_h_scaled_size)
#define SAMPLES_DOWN(component) ((component)->DCT_v_scaled_size)
#define LEAST_SAMPLES_ACROSS(cinfo) ((cinfo)->min_DCT_h_scaled_size)
#define LEAST_SAMPLES_DOWN(cinfo) ((cinfo)->min_DCT_v_scaled_size)
#else
#define SAMPLES_ACROSS(component) ((component)->DCT_scaled_size)
#define SAMPLES_DOWN(component) ((component)->DCT_scaled_size)
#define LEAST_SAMPLES_ACROSS(cinfo) ((cinfo)->min_DCT_scaled_size)
#define LEAST_SAMPLES_DOWN(cinfo) ((cinfo)->min_DCT_scaled_size)
#endif

/// An error manager that records messages instead of printing them.
typedef struct JPEGErrors {
  struct jpeg_error_mgr manager;  // First, so that libjpeg's pointer to it is a pointer to this.
  jmp_buf jump;
  CImageMessages *messages;
  CImageStatus status;
  /// True if the library ran out of bytes and inserted an end marker.
  bool reachedEnd;
  /// True if entropy-coded data was missing or invalid, so that the pixels cannot be trusted.
  bool damaged;
} JPEGErrors;

/// Initializes `errors` and returns the value for `cinfo->err`. The caller then sets `jump` with setjmp.
struct jpeg_error_mgr *cimage_jpeg_errors(JPEGErrors *errors, CImageMessages *messages);

/// Fails with the given status and reason, by the same jump as libjpeg's errors.
_Noreturn void cimage_jpeg_fail(j_common_ptr cinfo, CImageStatus status, const char *reason);

#endif
