#include <string.h>

#include "../messages.h"
#include "reader.h"

/// Reads the profile in the frame that error jumps return to.
static CImageStatus read_profile(PNGReader *self, CImagePNGDecoding options, CImageProfileRoom *profile) {
  if (setjmp(self->errors.jump)) return self->errors.status;
  cimage_png_read_header(self, options.width, options.height);
  png_charp name;
  png_bytep bytes;
  png_uint_32 count;
  int compression;
  if (!png_get_iCCP(self->png, self->info, &name, &compression, &bytes, &count)) return CImageStatusOK;
  if (count > profile->capacity) {
    cimage_add_warning(self->errors.messages, "ICC profile ignored: it is too large");
    return CImageStatusOK;
  }
  memcpy(profile->bytes, bytes, count);
  profile->count = count;
  return CImageStatusOK;
}

CImageStatus cimage_png_read_profile(const uint8_t *bytes, size_t count, CImagePNGDecoding options,
                                     CImageProfileRoom *profile, CImageMessages *messages) {
  PNGReader reader;
  CImageStatus status = CImageStatusOutOfMemory;
  if (cimage_png_open(&reader, bytes, count, messages)) status = read_profile(&reader, options, profile);
  cimage_png_close(&reader);
  return status;
}
