// Takes anything for an ICC profile of each colour model, and converts a few pixels with what is accepted.

#include <string.h>

#include "CImage.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  for (CImageColorModel model = CImageColorModelGray; model <= CImageColorModelCMYK; model++) {
    CImageMessages messages = {0};
    CImageTransform *transform;
    if (cimage_transform_create(bytes, count, model, &transform, &messages) != CImageStatusOK) __builtin_trap();
    // A profile that is sRGB's needs no conversion, and no warning either; one that converts is not complained about.
    if (transform != NULL && messages.warnings[0] != '\0') __builtin_trap();
    if (transform != NULL && model != CImageColorModelCMYK) {
      uint8_t pixels[4 * 16];
      memset(pixels, 100, sizeof pixels);
      CImageBitmap bitmap = {pixels, 4, 4, (int32_t)model, 16};
      cimage_transform_apply(transform, bitmap);
    }
    cimage_transform_destroy(transform);
  }
  return 0;
}
