#include "error.h"

#include <stdlib.h>

#include "../messages.h"

_Noreturn void cimage_png_error(png_structp png, png_const_charp text) {
  PNGErrors *errors = png_get_error_ptr(png);
  cimage_set_error(errors->messages, text);
  if (errors->status == CImageStatusOK) errors->status = CImageStatusCorrupt;
  longjmp(errors->jump, 1);
}

void cimage_png_warning(png_structp png, png_const_charp text) {
  PNGErrors *errors = png_get_error_ptr(png);
  cimage_add_warning(errors->messages, text);
}

png_voidp cimage_png_malloc(png_structp png, png_alloc_size_t count) {
  void *memory = malloc(count);
  PNGErrors *errors = png_get_mem_ptr(png);
  if (memory == NULL) errors->status = CImageStatusOutOfMemory;
  return memory;
}

void cimage_png_free(png_structp png, png_voidp memory) {
  (void)png;
  free(memory);
}
