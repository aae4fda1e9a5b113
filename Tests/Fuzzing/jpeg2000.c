// Decodes arbitrary bytes as a JPEG 2000 file, with the boxes and markers that thumbs-decode reads by itself, and with
// OpenJPEG. It fails if the header declares what the limits forbid, or the pixels are more or fewer than declared.

#include <stdlib.h>

#include "../../Sources/thumbs-decode/formats.h"

/// Fails unless the header is within the limits.
static void check_header(const DecodeHeader *header, const Limits *limits) {
  if (header->width == 0 || header->width > limits->side) abort();
  if (header->height == 0 || header->height > limits->side) abort();
  if ((uint64_t)header->width * header->height > limits->pixels) abort();
  if (header->channels < 1 || header->channels > 4 || header->halvings > 32) abort();
}

/// Copies the profile into memory that is exactly as large.
static void copy_profile(Image image, const DecodeHeader *header) {
  if (header->profileCount == 0) return;
  uint8_t *profile = malloc(header->profileCount);
  if (profile == NULL) abort();
  decode_jpeg2000->copy_profile(image, profile);
  free(profile);
}

/// Decodes the image, halved a number of times.
static void decode_image(Image image, const DecodeHeader *header, uint32_t halvings) {
  DecodeText text = {0};
  uint64_t divisor = UINT64_C(1) << halvings;
  Target target = {
      .width = (uint32_t)((header->width + divisor - 1) / divisor),
      .height = (uint32_t)((header->height + divisor - 1) / divisor), .channels = header->channels,
      .halvings = halvings};
  target.pixels = malloc((size_t)target.width * target.height * target.channels);
  if (target.pixels == NULL) abort();
  DecodeStatus status = decode_jpeg2000->decode(image, &target, &text);
  if (target.rowCount > target.height || (status == DecodeStatusOK && target.rowCount < target.height)) abort();
  free(target.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  Source source = {.bytes = bytes, .count = count, .limits = {.pixels = 1 << 16, .side = 1 << 12}};
  DecodeHeader header = {.orientation = 1, .primaries = 2, .transfer = 2, .matrix = 2};
  DecodeText text = {0};
  Image image = NULL;
  if (decode_jpeg2000->open(&source, &image, &header, &text) == DecodeStatusOK) {
    check_header(&header, &source.limits);
    copy_profile(image, &header);
    decode_image(image, &header, (uint32_t)count % (header.halvings + 1u));
  }
  decode_jpeg2000->close(image);
  return 0;
}
