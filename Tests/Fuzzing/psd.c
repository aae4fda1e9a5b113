// Decodes arbitrary bytes as PSD files, with the decoder of thumbs-decode.

#include <stdlib.h>
#include <string.h>

#include "../../Sources/thumbs-decode/formats.h"

/// Fails unless the header is one that a renderer accepts.
static void check_header(const DecodeHeader *header, const Limits *limits) {
  if (header->width == 0 || header->height == 0 || header->channels == 0 || header->channels > 4) abort();
  if ((uint64_t)header->width * header->height > limits->pixels || header->profileCount > 4 << 20) abort();
}

static void decode_image(Image image, const DecodeHeader *header, DecodeText *text) {
  Target target = {.width = header->width, .height = header->height, .channels = header->channels};
  uint8_t *profile = malloc(header->profileCount);
  target.pixels = malloc((size_t)target.width * target.height * target.channels);
  if (header->profileCount != 0) decode_psd->copy_profile(image, profile);
  DecodeStatus status = decode_psd->decode(image, &target, text);
  if (target.rowCount > target.height || (status == DecodeStatusOK && target.rowCount != target.height)) abort();
  free(target.pixels);
  free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  Source source = {.bytes = bytes, .count = count, .limits = {.pixels = 1 << 16, .side = 1 << 12}};
  DecodeHeader header = {.orientation = 1, .primaries = 2, .transfer = 2, .matrix = 2};
  DecodeText text = {0};
  Image image = NULL;
  if (decode_psd->open(&source, &image, &header, &text) == DecodeStatusOK) {
    check_header(&header, &source.limits);
    decode_image(image, &header, &text);
  }
  decode_psd->close(image);
  if (!memchr(text.error, 0, sizeof text.error) || !memchr(text.warnings, 0, sizeof text.warnings)) abort();
  return 0;
}
