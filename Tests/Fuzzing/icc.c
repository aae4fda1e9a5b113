// Opens arbitrary bytes as an ICC profile for each color model, and converts a few pixels with every accepted profile.

#include <string.h>

#include "CImage.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  for (int number = 0; number < 2 * CImageColorModelCMYK; number++) {
    CImageColorModel model = (CImageColorModel)(number / 2 + CImageColorModelGray);
    CImageTarget colors = number % 2 == 0 ? CImageTargetSRGB : CImageTargetDisplayP3;
    CImageMessages messages = {0};
    CImageTransform *transform;
    if (cimage_transform_create(bytes, count, model, colors, &transform, &messages) != CImageStatusOK) __builtin_trap();
    // A profile that is used must not cause a warning.
    if (transform != NULL && messages.warnings[0] != '\0') __builtin_trap();
    if (transform != NULL) cimage_transform_loses_colors(transform);
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
