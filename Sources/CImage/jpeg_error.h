// libjpeg reports by jumping. The jump lands in the one function that set it and ends there as a status.

#ifndef CIMAGE_JPEG_ERROR_H
#define CIMAGE_JPEG_ERROR_H

#include <setjmp.h>
#include <stdbool.h>

#include "CImage.h"
// jpeglib.h uses size_t and FILE without declaring them.
#include <stdio.h>
#include <jpeglib.h>

// How many samples a block becomes. libjpeg 7 and later, whose interface Ubuntu's libjpeg-turbo has too, keep one number
// for each direction; libjpeg 6b has one for both.
#if JPEG_LIB_VERSION >= 70
#define SAMPLES_ACROSS(component) ((component)->DCT_h_scaled_size)
#define SAMPLES_DOWN(component) ((component)->DCT_v_scaled_size)
#define LEAST_SAMPLES_DOWN(cinfo) ((cinfo)->min_DCT_v_scaled_size)
#else
#define SAMPLES_ACROSS(component) ((component)->DCT_scaled_size)
#define SAMPLES_DOWN(component) ((component)->DCT_scaled_size)
#define LEAST_SAMPLES_DOWN(cinfo) ((cinfo)->min_DCT_scaled_size)
#endif

/// An error manager that remembers instead of printing.
typedef struct JPEGErrors {
  struct jpeg_error_mgr manager;  // First, so that libjpeg's pointer to it is a pointer to this.
  jmp_buf jump;
  CImageMessages *messages;
  CImageStatus status;
  /// The library ran out of bytes and pretended to see the end of the picture.
  bool reachedEnd;
  /// Entropy-coded data was missing or made no sense: the pixels cannot be trusted.
  bool damaged;
} JPEGErrors;

/// Prepares `errors` and returns what `cinfo->err` wants. The caller then fills `jump` with setjmp.
struct jpeg_error_mgr *cimage_jpeg_errors(JPEGErrors *errors, CImageMessages *messages);

/// Fails with a reason of our own, by the same way as libjpeg's errors. Does not return.
_Noreturn void cimage_jpeg_fail(j_common_ptr cinfo, CImageStatus status, const char *reason);

#endif
