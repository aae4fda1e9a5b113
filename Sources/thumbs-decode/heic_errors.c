// Converts the errors of libheif.

#if __has_include(<libheif/heif.h>)

#include "heic.h"

#include <errno.h>
#include <string.h>

static uint64_t read_number(const uint8_t *bytes, int count) {
  uint64_t number = 0;
  for (int i = 0; i < count; i++) number = number << 8 | bytes[i];
  return number;
}

bool heic_is_cut(const Source *source) {
  size_t offset = 0;
  while (source->count - offset >= 8) {
    const uint8_t *box = source->bytes + offset;
    uint64_t size = read_number(box, 4);
    // One is a box with a longer size; zero is a box up to the end.
    if (size == 1 && source->count - offset >= 16) size = read_number(box + 8, 8);
    if (size < 8) return size == 1;
    if (size > source->count - offset) return true;
    offset += size;
  }
  return offset < source->count;
}

static DecodeStatus status_of(struct heif_error error) {
  // libheif reports a failed allocation during the conversion of colors as an unsupported one.
  if (errno == ENOMEM) return DecodeStatusOutOfMemory;
  switch (error.subcode) {
    case heif_suberror_End_of_data:
      return DecodeStatusTruncated;
    case heif_suberror_Security_limit_exceeded:
      // The same code is for the sizes of images and for the numbers of boxes and items.
      return strstr(error.message, "mage") != NULL ? DecodeStatusTooManyPixels : DecodeStatusLimit;
    case heif_suberror_Unsupported_codec:
      return DecodeStatusUnsupported;
    default:
      break;
  }
  switch (error.code) {
    case heif_error_Memory_allocation_error:
      return DecodeStatusOutOfMemory;
    case heif_error_Unsupported_feature:
    case heif_error_Unsupported_filetype:
      return DecodeStatusUnsupported;
    default:
      return DecodeStatusCorrupt;
  }
}

DecodeStatus heic_fail(struct heif_error error, DecodeText *text) {
  // Some messages end with a newline.
  return fail(status_of(error), text, "%.*s", (int)strcspn(error.message, "\n"), error.message);
}

#endif
