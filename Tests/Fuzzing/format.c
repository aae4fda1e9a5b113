// Decodes arbitrary bytes as a file of FORMAT, with the decoder of thumbs-decode or thumbs-decode-pdf. It fails if the
// header is one that a renderer refuses, the pixels are more or fewer than declared, or a text has no end.

#include <stdlib.h>
#include <string.h>

#include <CDecoder.h>

extern const Format *const FORMAT;

/// Fails unless the header is within the limits.
static void check_header(const DecodeHeader *header, const Limits *limits) {
  if (header->width == 0 || header->width > limits->side) abort();
  if (header->height == 0 || header->height > limits->side) abort();
  if ((uint64_t)header->width * header->height > limits->pixels) abort();
  if (header->channels < 1 || header->channels > 4 || header->halvings > 32 || header->profileCount > 4 << 20) abort();
}

/// Copies the profile into memory that is exactly as large.
static void copy_profile(Image image, const DecodeHeader *header) {
  if (header->profileCount == 0) return;
  uint8_t *profile = malloc(header->profileCount);
  if (profile == NULL) abort();
  FORMAT->copy_profile(image, profile);
  free(profile);
}

/// Lists the durations of a sequence.
static void list_durations(Image image, const DecodeHeader *header) {
  uint32_t *durations = malloc(header->frameCount * sizeof *durations);
  if (durations == NULL) abort();
  FORMAT->list_durations(image, durations);
  free(durations);
}

/// Decodes the image, halved a number of times, or a frame.
static DecodeStatus decode_image(
    Image image, const DecodeHeader *header, uint32_t halvings, uint32_t frame, DecodeText *text) {
  uint64_t divisor = UINT64_C(1) << halvings;
  Target target = {
      .width = (uint32_t)((header->width + divisor - 1) / divisor),
      .height = (uint32_t)((header->height + divisor - 1) / divisor), .channels = header->channels,
      .halvings = halvings, .frame = frame};
  target.pixels = malloc((size_t)target.width * target.height * target.channels);
  if (target.pixels == NULL) abort();
  DecodeStatus status = FORMAT->decode(image, &target, text);
  if (target.rowCount > target.height || (status == DecodeStatusOK && target.rowCount < target.height)) abort();
  free(target.pixels);
  return status;
}

/// Decodes the first frames of a sequence, or the only one.
static void decode_frames(Image image, const DecodeHeader *header, uint32_t halvings, DecodeText *text) {
  enum { mostFrames = 3 };
  if (header->frameCount > 0) list_durations(image, header);
  for (uint32_t frame = 0; frame < mostFrames && (frame == 0 || frame < header->frameCount); frame++) {
    if (decode_image(image, header, halvings, frame, text) != DecodeStatusOK) return;
  }
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count, (void)arguments;
  if (FORMAT == NULL) abort();
  if (FORMAT->prepare != NULL) FORMAT->prepare();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  Source source = {.bytes = bytes, .count = count, .limits = {.pixels = 1 << 16, .side = 1 << 12}};
  DecodeHeader header = {.orientation = 1, .primaries = 2, .transfer = 2, .matrix = 2};
  DecodeText text = {0};
  Image image = NULL;
  if (FORMAT->open(&source, &image, &header, &text) == DecodeStatusOK) {
    check_header(&header, &source.limits);
    copy_profile(image, &header);
    decode_frames(image, &header, (uint32_t)count % (header.halvings + 1u), &text);
  }
  FORMAT->close(image);
  if (!memchr(text.error, 0, sizeof text.error) || !memchr(text.warnings, 0, sizeof text.warnings)) abort();
  return 0;
}
