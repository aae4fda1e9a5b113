// Decodes JPEG 2000 with OpenJPEG. NULL without it.
//
// OpenJPEG gets the codestream only. It decodes fewer pixels if the image is to be halved.

#include "formats.h"

#if __has_include(<openjpeg.h>)

#include "jpeg2000.h"

#include <errno.h>
#include <openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// An open image.
typedef struct JPEG2000Image {
  Source source;
  JPEG2000Header header;
} JPEG2000Image;

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "OpenJPEG %s", opj_version());
  return name;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  JPEG2000Image *self = *image = calloc(1, sizeof *self);
  if (self == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  self->source = *source;
  return read_jpeg2000_header(source, &self->header, header, text);
}

static void copy_profile(Image image, uint8_t *bytes) {
  const JPEG2000Header *header = &((JPEG2000Image *)image)->header;
  memcpy(bytes, header->profile, header->profileCount);
}

// MARK: Stream

/// The codestream as OpenJPEG reads it.
typedef struct Reader {
  const uint8_t *bytes;
  size_t count, position;
} Reader;

static OPJ_SIZE_T read_bytes(void *bytes, OPJ_SIZE_T count, void *user) {
  Reader *reader = user;
  size_t left = reader->count - reader->position;
  if (count > left) count = left;
  if (count == 0) return (OPJ_SIZE_T)-1;
  memcpy(bytes, reader->bytes + reader->position, count);
  reader->position += count;
  return count;
}

static OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void *user) {
  Reader *reader = user;
  if (count < 0 || (uint64_t)count > reader->count - reader->position) return -1;
  reader->position += (size_t)count;
  return count;
}

static OPJ_BOOL seek(OPJ_OFF_T position, void *user) {
  Reader *reader = user;
  if (position < 0 || (uint64_t)position > reader->count) return OPJ_FALSE;
  reader->position = (size_t)position;
  return OPJ_TRUE;
}

static opj_stream_t *open_stream(Reader *reader) {
  enum { bufferSize = 64 << 10 };
  opj_stream_t *stream = opj_stream_create(bufferSize, OPJ_TRUE);
  if (stream == NULL) return NULL;
  opj_stream_set_user_data(stream, reader, NULL);
  opj_stream_set_user_data_length(stream, reader->count);
  opj_stream_set_read_function(stream, read_bytes);
  opj_stream_set_skip_function(stream, skip_bytes);
  opj_stream_set_seek_function(stream, seek);
  return stream;
}

// MARK: Messages

static void copy_line(const char *message, char *line, size_t size) {
  snprintf(line, size, "%.*s", (int)strcspn(message, "\n"), message);
}

/// Takes the first error, which has the cause of those that follow.
static void receive_error(const char *message, void *user) {
  DecodeText *text = user;
  if (text->error[0] == 0) copy_line(message, text->error, sizeof text->error);
}

static void receive_warning(const char *message, void *user) {
  char line[160];
  copy_line(message, line, sizeof line);
  add_warning(user, line);
}

/// Returns the status for the error that OpenJPEG has reported.
static DecodeStatus explain(DecodeText *text) {
  if (errno == ENOMEM || strstr(text->error, "ot enough memory") != NULL) {
    return fail(DecodeStatusOutOfMemory, text, "out of memory");
  }
  if (text->error[0] == 0) return fail(DecodeStatusCorrupt, text, "invalid image data");
  return DecodeStatusCorrupt;
}

// MARK: Samples

/// The samples of a channel.
typedef struct Samples {
  const OPJ_INT32 *data;
  uint32_t width, height;
  /// The pixels of a sample, and the place of the first sample.
  uint32_t stepX, stepY, firstX, firstY;
  /// The addend, the range and the number of lost bits that make an index of a sample.
  int64_t addend, top;
  uint32_t shift;
  /// The level of 8 bits for each index.
  uint8_t *levels;
} Samples;

/// Makes the table of levels for samples, of which at most 16 bits count.
static bool fill_levels(Samples *samples, const Component *component) {
  samples->addend = component->isSigned ? INT64_C(1) << (component->precision - 1) : 0;
  samples->top = (INT64_C(1) << component->precision) - 1;
  samples->shift = component->precision > 16 ? component->precision - 16u : 0;
  uint32_t count = (uint32_t)(samples->top >> samples->shift) + 1;
  Component used = {.precision = component->precision - (uint8_t)samples->shift};
  samples->levels = malloc(count);
  if (samples->levels == NULL) return false;
  for (uint32_t i = 0; i < count; i++) samples->levels[i] = level_of(&used, i);
  return true;
}

static bool fill_from_palette(Samples *samples, const Palette *palette, uint32_t column) {
  samples->top = palette->rowCount - 1;
  samples->levels = malloc(palette->rowCount);
  if (samples->levels == NULL) return false;
  for (uint32_t i = 0; i < palette->rowCount; i++) samples->levels[i] = palette_level(palette, i, column);
  return true;
}

/// Finds the samples of a channel in the decoded image.
static DecodeStatus find_samples(
    const JPEG2000Header *header, const opj_image_t *image, uint32_t index, uint32_t halvings, Samples *samples,
    DecodeText *text) {
  const Channel *channel = &header->channels[index];
  const Component *component = &header->components[channel->component];
  if (channel->component >= image->numcomps) return fail(DecodeStatusCorrupt, text, "a component is missing");
  const opj_image_comp_t *decoded = &image->comps[channel->component];
  if (decoded->data == NULL || decoded->w == 0 || decoded->h == 0) {
    return fail(DecodeStatusCorrupt, text, "a component is empty");
  }
  *samples = (Samples){.data = decoded->data, .width = decoded->w, .height = decoded->h};
  samples->stepX = component->stepX / header->stepX;
  samples->stepY = component->stepY / header->stepY;
  samples->firstX = halved(divided_up(header->left, component->stepX), halvings);
  samples->firstY = halved(divided_up(header->top, component->stepY), halvings);
  bool hasLevels = channel->isIndexed ? fill_from_palette(samples, &header->palette, channel->column)
                                      : fill_levels(samples, component);
  return hasLevels ? DecodeStatusOK : fail(DecodeStatusOutOfMemory, text, "out of memory");
}

static uint8_t level_at(const Samples *samples, OPJ_INT32 sample) {
  int64_t index = sample + samples->addend;
  if (index < 0) index = 0;
  if (index > samples->top) index = samples->top;
  return samples->levels[index >> samples->shift];
}

/// Returns the index of the sample that covers a place, or of the nearest one if none does.
static uint32_t nearest(uint32_t place, uint32_t step, uint32_t first, uint32_t count) {
  uint32_t sample = place / step, index = sample > first ? sample - first : 0;
  return index < count ? index : count - 1;
}

/// Copies a row of a channel, whose first pixel is at the place `x`, `y`.
static void copy_row(const Samples *samples, uint32_t x, uint32_t y, const Target *target, uint8_t *pixels) {
  const OPJ_INT32 *row = samples->data + (size_t)nearest(y, samples->stepY, samples->firstY, samples->height) *
                                             samples->width;
  uint32_t channels = target->channels, width = target->width;
  if (samples->stepX == 1 && width <= samples->width) {
    for (uint32_t i = 0; i < width; i++) pixels[(size_t)i * channels] = level_at(samples, row[i]);
    return;
  }
  for (uint32_t i = 0; i < width; i++) {
    uint32_t column = nearest(x + i, samples->stepX, samples->firstX, samples->width);
    pixels[(size_t)i * channels] = level_at(samples, row[column]);
  }
}

// MARK: Pixels

static uint8_t clamp(int level) { return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level); }

/// Converts luma and chroma to RGB (ITU-R BT.601, full range), as JFIF does.
static void convert_colors(uint8_t *pixels, uint32_t channels, uint32_t width) {
  for (uint8_t *pixel = pixels; pixel < pixels + (size_t)width * channels; pixel += channels) {
    int luma = pixel[0] * 65536 + 32768, blue = pixel[1] - 128, red = pixel[2] - 128;
    pixel[0] = clamp((luma + 91881 * red) >> 16);
    pixel[1] = clamp((luma - 22554 * blue - 46802 * red) >> 16);
    pixel[2] = clamp((luma + 116130 * blue) >> 16);
  }
}

static void copy_rows(const JPEG2000Header *header, const Samples *samples, Target *target) {
  uint32_t x = halved(header->firstX, target->halvings), y = halved(header->firstY, target->halvings);
  for (uint32_t row = 0; row < target->height; row++) {
    uint8_t *pixels = target->pixels + (size_t)row * target->width * target->channels;
    for (uint32_t channel = 0; channel < target->channels; channel++) {
      copy_row(&samples[channel], x, y + row, target, pixels + channel);
    }
    if (header->isYCC) convert_colors(pixels, target->channels, target->width);
  }
  target->rowCount = target->height;
}

/// Makes pixels of the decoded image.
static DecodeStatus copy_pixels(
    const JPEG2000Header *header, const opj_image_t *image, Target *target, DecodeText *text) {
  Samples samples[4] = {0};
  DecodeStatus status = DecodeStatusOK;
  for (uint32_t i = 0; i < target->channels && status == DecodeStatusOK; i++) {
    status = find_samples(header, image, i, target->halvings, &samples[i], text);
  }
  if (status == DecodeStatusOK) copy_rows(header, samples, target);
  for (uint32_t i = 0; i < target->channels; i++) free(samples[i].levels);
  size_t count = (size_t)target->width * target->rowCount;
  if (header->isPremultiplied && target->channels == 4) unpremultiply(target->pixels, count);
  if (header->isPremultiplied && target->channels == 2) unpremultiply_gray(target->pixels, count);
  return status;
}

// MARK: Decoding

/// Starts no thread: OpenJPEG has none unless a program wants them.
static opj_codec_t *create_codec(uint32_t halvings, DecodeText *text) {
  opj_dparameters_t parameters;
  opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
  if (codec == NULL) return NULL;
  opj_set_error_handler(codec, receive_error, text);
  opj_set_warning_handler(codec, receive_warning, text);
  opj_set_default_decoder_parameters(&parameters);
  parameters.cp_reduce = halvings;
  if (opj_setup_decoder(codec, &parameters) && opj_decoder_set_strict_mode(codec, OPJ_TRUE)) return codec;
  opj_destroy_codec(codec);
  return NULL;
}

/// Decodes the codestream. Returns NULL if that fails.
static opj_image_t *decode_stream(opj_codec_t *codec, opj_stream_t *stream) {
  opj_image_t *image = NULL;
  if (opj_read_header(stream, codec, &image) && opj_decode(codec, stream, image)) return image;
  opj_image_destroy(image);
  return NULL;
}

static DecodeStatus decode_pixels(const JPEG2000Header *header, Target *target, DecodeText *text) {
  Reader reader = {.bytes = header->stream, .count = header->streamCount};
  opj_stream_t *stream = open_stream(&reader);
  opj_codec_t *codec = create_codec(target->halvings, text);
  opj_image_t *image = stream != NULL && codec != NULL ? decode_stream(codec, stream) : NULL;
  if (codec != NULL) opj_destroy_codec(codec);
  if (stream != NULL) opj_stream_destroy(stream);
  if (image == NULL) return explain(text);
  text->error[0] = 0;
  DecodeStatus status = copy_pixels(header, image, target, text);
  opj_image_destroy(image);
  return status;
}

/// Decodes an image. Of one that is cut, no row counts as complete: the details of all rows may be missing.
static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  const JPEG2000Header *header = &((JPEG2000Image *)image)->header;
  target->rowCount = 0;
  if (header->isCut) return fail(DecodeStatusTruncated, text, "the image data ends before the last pixel");
  return decode_pixels(header, target, text);
}

// MARK: Format

static const Format format = {
    .id = DecodeFormatJPEG2000,
    .library = library,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = free,
};

const Format *const decode_jpeg2000 = &format;

#else

const Format *const decode_jpeg2000 = NULL;

#endif
