// Decodes the planes of PSD images: unpacks their rows, reduces the samples to 8 bits, and converts the colors to RGB.

#include "light.h"
#include "psd.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

// MARK: Rows

/// The planes, read row by row.
typedef struct Reader {
  const PSDImage *image;
  /// The planes that are read: those of the colors, and alpha. There are four colors at most.
  uint32_t count;
  /// For each plane, the bytes of its next rows, and of the numbers that are the lengths of its compressed rows.
  Bytes rows[5], lengths[5];
  /// The samples of a row, and the same bytes in another order.
  uint8_t *samples, *scratch;
  size_t rowBytes;
#if __has_include(<zlib.h>)
  z_stream stream;
#endif
  DecodeText *text;
} Reader;

static bool is_zipped(const PSDImage *image) { return image->compression >= PSDCompressionZip; }

static DecodeStatus fail_short(Reader *self) {
  return fail(DecodeStatusTruncated, self->text, "the image data ends before the last pixel");
}

static DecodeStatus fail_corrupt(Reader *self) { return fail(DecodeStatusCorrupt, self->text, "invalid image data"); }

/// Finds the planes of uncompressed rows, all of the same length.
static void find_plain_planes(Reader *self) {
  Bytes rest = self->image->planes;
  uint64_t size = (uint64_t)self->rowBytes * self->image->height;
  for (uint32_t plane = 0; plane < self->count; plane++) {
    self->rows[plane] = rest;
    read_part(&rest, size);
  }
}

/// Finds the planes of rows with PackBits, which follow the lengths of all rows of all planes.
static void find_packed_planes(Reader *self) {
  const PSDImage *image = self->image;
  uint32_t size = image->isLarge ? 4 : 2;
  Bytes rest = image->planes;
  for (uint32_t plane = 0; plane < image->planeCount; plane++) {
    Bytes lengths = read_part(&rest, (uint64_t)image->height * size);
    if (plane < self->count) self->lengths[plane] = lengths;
  }
  for (uint32_t plane = 0; plane < self->count; plane++) {
    Bytes lengths = self->lengths[plane];
    self->rows[plane] = rest;
    while (lengths.count > 0) read_part(&rest, read_number(&lengths, size));
  }
}

/// Unpacks a row: after a byte below 128, one more byte than its value is copied; after a byte above, one is repeated
/// (Apple Technical Note TN1023).
static bool unpack(Bytes packed, uint8_t *bytes, size_t count) {
  const uint8_t *next = packed.next, *end = next + packed.count;
  while (count > 0 && end - next >= 2) {
    uint8_t code = *next++;
    if (code == 128) continue;
    size_t length = code < 128 ? code + 1u : 257u - code;
    size_t read = code < 128 ? length : 1;
    if (length > count || read > (size_t)(end - next)) return false;
    if (code < 128) {
      memcpy(bytes, next, length);
    } else {
      memset(bytes, *next, length);
    }
    next += read;
    bytes += length;
    count -= length;
  }
  return count == 0;
}

static DecodeStatus read_packed_row(Reader *self, uint32_t plane) {
  uint64_t count = read_number(&self->lengths[plane], self->image->isLarge ? 4 : 2);
  if (self->lengths[plane].isShort) return fail_short(self);
  Bytes packed = read_part(&self->rows[plane], count);
  if (packed.isShort) return fail_short(self);
  return unpack(packed, self->samples, self->rowBytes) ? DecodeStatusOK : fail_corrupt(self);
}

static DecodeStatus read_plain_row(Reader *self, uint32_t plane) {
  Bytes row = read_part(&self->rows[plane], self->rowBytes);
  if (row.isShort) return fail_short(self);
  memcpy(self->samples, row.next, self->rowBytes);
  return DecodeStatusOK;
}

#if __has_include(<zlib.h>)

static bool start_stream(Reader *self) {
  self->stream = (z_stream){.next_in = (Bytef *)(uintptr_t)self->image->planes.next};
  return inflateInit(&self->stream) == Z_OK;
}

/// Inflates the next row. All planes are one stream, which zlib reads at most 4 GiB at once.
static DecodeStatus inflate_row(Reader *self) {
  z_stream *stream = &self->stream;
  const Bytes *planes = &self->image->planes;
  stream->next_out = self->samples;
  stream->avail_out = (uInt)self->rowBytes;
  while (stream->avail_out > 0) {
    size_t left = planes->count - (size_t)(stream->next_in - planes->next);
    stream->avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
    int result = inflate(stream, Z_NO_FLUSH);
    if (result == Z_OK || (result == Z_STREAM_END && stream->avail_out == 0)) continue;
    return result == Z_BUF_ERROR ? fail_short(self) : fail_corrupt(self);
  }
  return DecodeStatusOK;
}

/// Reads the end of the stream, with its checksum, unless there are planes that are not read.
static DecodeStatus end_stream(Reader *self) {
  uint8_t more;
  self->stream.next_out = &more;
  self->stream.avail_out = 1;
  int result = self->count < self->image->planeCount ? Z_STREAM_END : inflate(&self->stream, Z_NO_FLUSH);
  if (result == Z_BUF_ERROR) return fail_short(self);
  return result == Z_DATA_ERROR ? fail_corrupt(self) : DecodeStatusOK;
}

static void release_stream(Reader *self) { inflateEnd(&self->stream); }

#else

static bool start_stream(Reader *self) { return self == NULL; }

static DecodeStatus inflate_row(Reader *self) { return fail_corrupt(self); }

static DecodeStatus end_stream(Reader *self) { return fail_corrupt(self); }

static void release_stream(Reader *self) { (void)self; }

#endif

/// Adds to each sample the one before it. The bytes of floating-point numbers are apart: first the highest byte of all
/// numbers, and each byte is predicted from the one before.
static void undo_prediction(Reader *self) {
  uint8_t *samples = self->samples;
  if (self->image->depth == 16) {
    for (size_t i = 2; i + 1 < self->rowBytes; i += 2) {
      unsigned sum = (unsigned)(samples[i] << 8 | samples[i + 1]) + (unsigned)(samples[i - 2] << 8 | samples[i - 1]);
      samples[i] = (uint8_t)(sum >> 8);
      samples[i + 1] = (uint8_t)sum;
    }
    return;
  }
  for (size_t i = 1; i < self->rowBytes; i++) samples[i] = (uint8_t)(samples[i] + samples[i - 1]);
  if (self->image->depth != 32) return;
  size_t width = self->image->width;
  memcpy(self->scratch, samples, self->rowBytes);
  for (size_t i = 0; i < self->rowBytes; i++) samples[i] = self->scratch[i % 4 * width + i / 4];
}

/// Reads the next row of a plane into the samples.
static DecodeStatus read_row(Reader *self, uint32_t plane) {
  switch (self->image->compression) {
    case PSDCompressionNone: return read_plain_row(self, plane);
    case PSDCompressionPackBits: return read_packed_row(self, plane);
    default: break;
  }
  DecodeStatus status = inflate_row(self);
  bool isPredicted = self->image->compression == PSDCompressionZipWithPrediction;
  if (status == DecodeStatusOK && isPredicted) undo_prediction(self);
  return status;
}

// MARK: Levels

/// The levels of sRGB for linear light of 16 bits.
static uint8_t curve[65536];

/// The linear light of each level, 0 to 1.
static float light[256];

static void make_curve(void) {
  if (light[255] > 0) return;
  for (int value = 0; value < 65536; value++) curve[value] = (uint8_t)lround(sample_of_light(value / 65535.0) * 255);
  for (int value = 0; value < 256; value++) light[value] = (float)light_of_sample(value / 255.0);
}

/// Returns the level of linear light. What is brighter than white, and no number, become ends of the range.
static uint8_t level_of(float linear) {
  return curve[linear > 0 ? (linear < 1 ? (unsigned)(linear * 65535 + 0.5f) : 65535) : 0];
}

static float number_of(const uint8_t *bytes) {
  uint32_t bits = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/// Returns the nearest level: the sample divided by 257, or by 256 if zero is in the middle, as in L*a*b*.
static uint8_t level_of_wide(const uint8_t *sample, bool isSigned) {
  unsigned value = (unsigned)(sample[0] << 8 | sample[1]);
  if (!isSigned) return (uint8_t)((value * 255u + 32895) >> 16);
  return (uint8_t)(value < 65408 ? (value + 128) >> 8 : 255);
}

/// Reduces the samples of a plane to levels of 8 bits, in place. Floating-point colors are linear light; alpha is not.
static void reduce(Reader *self, uint32_t plane) {
  uint8_t *samples = self->samples;
  size_t width = self->image->width;
  bool isColor = plane < self->image->colorCount;
  bool isSigned = self->image->mode == PSDModeLab && (plane == 1 || plane == 2);
  switch (self->image->depth) {
    case 1:
      // From the end, because a sample becomes a byte. 1 is black.
      for (size_t x = width; x-- > 0;) samples[x] = samples[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
      break;
    case 16:
      for (size_t x = 0; x < width; x++) samples[x] = level_of_wide(samples + 2 * x, isSigned);
      break;
    case 32:
      for (size_t x = 0; x < width; x++) {
        float number = number_of(samples + 4 * x);
        samples[x] = isColor ? level_of(number) : (uint8_t)(number > 0 ? (number < 1 ? number * 255 + 0.5f : 255) : 0);
      }
      break;
    default: break;
  }
}

// MARK: Colors

/// Stores the levels of a palette's index, and alpha if an index is transparent.
static void store_palette(const PSDImage *image, const uint8_t *indexes, uint8_t *pixels, uint32_t channels) {
  for (size_t x = 0; x < image->width; x++, pixels += channels) {
    for (size_t channel = 0; channel < 3; channel++) pixels[channel] = image->palette[channel * 256 + indexes[x]];
    if (channels == 4) pixels[3] = indexes[x] == image->transparentIndex ? 0 : 255;
  }
}

/// Stores the levels of a plane. Those of inks count from full ink, so that black multiplies the other three.
static void store(const Reader *self, uint32_t plane, uint8_t *pixels, uint32_t channels) {
  const PSDImage *image = self->image;
  const uint8_t *levels = self->samples;
  bool isAlpha = plane == image->colorCount;
  uint8_t *channel = pixels + (isAlpha ? channels - 1 : plane);
  if (image->mode == PSDModeIndexed) {
    store_palette(image, levels, pixels, channels);
  } else if (image->mode == PSDModeCMYK && plane == 3) {
    for (size_t x = 0; x < image->width; x++, pixels += channels) {
      for (size_t ink = 0; ink < 3; ink++) pixels[ink] = (uint8_t)((pixels[ink] * levels[x] + 127) / 255);
    }
  } else {
    for (size_t x = 0; x < image->width; x++) channel[x * channels] = levels[x];
  }
}

/// Converts a color of CIE L*a*b* with the white D50 to sRGB. The matrix contains the adaptation to D65 by Bradford.
static void convert_lab(uint8_t *pixel) {
  static const float matrix[3][3] = {
      {3.1338561f, -1.6168667f, -0.4906146f}, {-0.9787684f, 1.9161415f, 0.0334540f},
      {0.0719453f, -0.2289914f, 1.4052427f}};
  static const float white[3] = {0.96422f, 1, 0.82521f};
  float f = ((float)pixel[0] / 2.55f + 16) / 116, light_of[3];
  float roots[3] = {f + ((float)pixel[1] - 128) / 500, f, f - ((float)pixel[2] - 128) / 200};
  for (int i = 0; i < 3; i++) {
    float root = roots[i];
    light_of[i] = white[i] * (root > 6.0f / 29 ? root * root * root : (root - 4.0f / 29) * 108 / 841);
  }
  for (int i = 0; i < 3; i++) {
    const float *row = matrix[i];
    pixel[i] = level_of(row[0] * light_of[0] + row[1] * light_of[1] + row[2] * light_of[2]);
  }
}

/// Returns a level without the white behind it.
static uint8_t without_white(uint8_t level, unsigned alpha, bool isLinear) {
  if (isLinear) return level_of(1 - (1 - light[level]) * 255 / (float)alpha);
  unsigned distance = ((255u - level) * 255 + alpha / 2) / alpha;
  return (uint8_t)(distance < 255 ? 255 - distance : 0);
}

/// Removes the white onto which Photoshop draws what is transparent. The specification does not have the rule; it is
/// that of ImageMagick (`CorrectPSDAlphaBlend` in coders/psd.c), which leaves CMYK as it is, and of psd-tools.
static void remove_white(const PSDImage *image, uint8_t *pixels, uint32_t channels) {
  for (size_t x = 0; x < image->width; x++, pixels += channels) {
    unsigned alpha = pixels[channels - 1];
    if (alpha == 0 || alpha == 255) continue;
    for (size_t channel = 0; channel + 1 < channels; channel++) {
      pixels[channel] = without_white(pixels[channel], alpha, image->depth == 32);
    }
  }
}

/// Converts the colors of a row once all its planes are stored.
static void finish_row(const PSDImage *image, uint8_t *pixels, uint32_t channels) {
  if (image->mode == PSDModeLab) {
    for (size_t x = 0; x < image->width; x++) convert_lab(pixels + x * channels);
  }
  bool isMatted = image->mode == PSDModeGray || image->mode == PSDModeDuotone || image->mode == PSDModeRGB;
  if (isMatted && has_alpha_plane(image)) remove_white(image, pixels, channels);
}

// MARK: Image

/// Decodes all rows. Those of a ZIP stream come plane by plane; of the others, all planes of a row are read together.
static DecodeStatus decode_rows(Reader *self, Target *target) {
  const PSDImage *image = self->image;
  uint64_t total = (uint64_t)self->count * image->height;
  for (uint64_t index = 0; index < total; index++) {
    uint32_t plane = (uint32_t)(is_zipped(image) ? index / image->height : index % self->count);
    uint32_t y = (uint32_t)(is_zipped(image) ? index % image->height : index / self->count);
    uint8_t *pixels = target->pixels + (size_t)y * target->width * target->channels;
    DecodeStatus status = read_row(self, plane);
    if (status != DecodeStatusOK) return status;
    reduce(self, plane);
    store(self, plane, pixels, target->channels);
    if (plane + 1 < self->count) continue;
    finish_row(image, pixels, target->channels);
    target->rowCount = y + 1;
  }
  return DecodeStatusOK;
}

static DecodeStatus decode_with(Reader *self, Target *target) {
  if (!is_zipped(self->image)) {
    if (self->image->compression == PSDCompressionNone) find_plain_planes(self);
    if (self->image->compression == PSDCompressionPackBits) find_packed_planes(self);
    return decode_rows(self, target);
  }
  if (!start_stream(self)) return fail(DecodeStatusOutOfMemory, self->text, "out of memory");
  DecodeStatus status = decode_rows(self, target);
  if (status == DecodeStatusOK) status = end_stream(self);
  release_stream(self);
  return status;
}

DecodeStatus decode_planes(const PSDImage *image, Target *target, DecodeText *text) {
  Reader self = {.image = image, .text = text, .count = image->colorCount + has_alpha_plane(image)};
  target->rowCount = 0;
  self.rowBytes = image->depth == 1 ? ((size_t)image->width + 7) / 8 : (size_t)image->width * (image->depth / 8);
  // A row of bits becomes one of bytes in place.
  self.samples = malloc(image->depth == 1 ? image->width : self.rowBytes);
  self.scratch = image->depth == 32 ? malloc(self.rowBytes) : NULL;
  make_curve();
  bool hasMemory = self.samples != NULL && (self.scratch != NULL || image->depth != 32);
  DecodeStatus status = hasMemory ? decode_with(&self, target)
                                  : fail(DecodeStatusOutOfMemory, text, "out of memory");
  free(self.samples);
  free(self.scratch);
  return status;
}
