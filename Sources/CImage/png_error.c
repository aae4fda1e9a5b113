#include "png_error.h"

#include "messages.h"

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
