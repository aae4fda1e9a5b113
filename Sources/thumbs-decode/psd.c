// Decodes the merged image of PSD and PSB files (Photoshop), without a library: Adobe Photoshop File Formats
// Specification, November 2019. A file has five sections: the header, the palette, the image resources, the layers, and
// the merged image, which Photoshop calls the composite.

#include "formats.h"
#include "psd.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

static const char *library(void) {
#if __has_include(<zlib.h>)
  static char name[64] = "zlib ";
  strncpy(name + strlen("zlib "), zlibVersion(), sizeof name - sizeof "zlib ");
  return name;
#else
  return "PSD without zlib";
#endif
}

// MARK: Bytes

uint64_t read_number(Bytes *bytes, uint32_t size) {
  Bytes part = read_part(bytes, size);
  uint64_t number = 0;
  for (size_t index = 0; index < part.count; index++) number = number << 8 | part.next[index];
  return number;
}

Bytes read_part(Bytes *bytes, uint64_t count) {
  if (count > bytes->count) {
    *bytes = (Bytes){.next = bytes->next, .isShort = true};
    return *bytes;
  }
  Bytes part = {.next = bytes->next, .count = (size_t)count};
  bytes->next += count;
  bytes->count -= count;
  return part;
}

// MARK: Header

/// Returns the planes of the colors; 0 for a mode that is not supported. Multichannel images are inks of any colors.
static uint32_t color_count(uint32_t mode) {
  switch (mode) {
    case PSDModeBitmap:
    case PSDModeGray:
    case PSDModeIndexed:
    case PSDModeDuotone: return 1;
    case PSDModeRGB:
    case PSDModeLab: return 3;
    case PSDModeCMYK: return 4;
    default: return 0;
  }
}

/// Returns true if images of the mode have samples of this depth.
static bool has_depth(const PSDImage *self) {
  switch (self->depth) {
    case 1: return self->mode == PSDModeBitmap;
    case 8: return self->mode != PSDModeBitmap;
    case 16: return self->mode != PSDModeBitmap && self->mode != PSDModeIndexed;
    case 32: return self->mode == PSDModeGray || self->mode == PSDModeRGB;
    default: return false;
  }
}

static DecodeStatus read_dimensions(PSDImage *self, Bytes *file, DecodeText *text) {
  DecodeStatus status = DecodeStatusOK;
  uint64_t signature = read_number(file, 4), version = read_number(file, 2);
  read_part(file, 6);
  self->planeCount = (uint32_t)read_number(file, 2);
  self->height = (uint32_t)read_number(file, 4);
  self->width = (uint32_t)read_number(file, 4);
  self->depth = (uint32_t)read_number(file, 2);
  self->mode = (uint32_t)read_number(file, 2);
  self->colorCount = color_count(self->mode);
  self->isLarge = version == 2;
  if (file->isShort) return fail(DecodeStatusTruncated, text, "the file ends within the header");
  if (signature != 0x38425053 || version < 1 || version > 2) {
    return fail(DecodeStatusCorrupt, text, "invalid header");
  }
  if (!check_size(self->width, self->height, &self->limits, &status, text)) return status;
  if (self->colorCount == 0) {
    return fail(DecodeStatusUnsupported, text, "color mode %u is not supported", self->mode);
  }
  if (!has_depth(self) || self->planeCount < self->colorCount) {
    return fail(DecodeStatusCorrupt, text, "the header contradicts itself");
  }
  return DecodeStatusOK;
}

// MARK: Image resources

/// The numbers of the resources that matter.
enum { profileResource = 1039, transparentIndexResource = 1047, versionResource = 1057 };

static void take_resource(PSDImage *self, uint64_t id, Bytes content) {
  switch (id) {
    case profileResource:
      self->profile = content;
      break;
    case transparentIndexResource:
      if (content.count >= 2) self->transparentIndex = (uint32_t)read_number(&content, 2);
      break;
    case versionResource:
      // The version of the resource, and whether the merged image is real.
      read_part(&content, 4);
      self->lacksMergedImage = content.count > 0 && read_number(&content, 1) == 0;
      break;
    default: break;
  }
}

static void read_resources(PSDImage *self, Bytes section, DecodeText *text) {
  while (section.count > 0) {
    read_part(&section, 4);
    uint64_t id = read_number(&section, 2), nameCount = read_number(&section, 1);
    // The name and the content have padding to an even number of bytes.
    read_part(&section, nameCount | 1);
    uint64_t count = read_number(&section, 4);
    Bytes content = read_part(&section, count);
    if (section.isShort) return add_warning(text, "the image resources are damaged");
    if (section.count > 0) read_part(&section, count & 1);
    take_resource(self, id, content);
  }
}

// MARK: Layers

/// The name of a block.
#define KEY(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/// Returns true if the length of the block has eight bytes in PSB files.
static bool has_long_count(uint64_t key) {
  static const uint32_t keys[] = {
      KEY('L', 'M', 's', 'k'), KEY('L', 'r', '1', '6'), KEY('L', 'r', '3', '2'), KEY('L', 'a', 'y', 'r'),
      KEY('M', 't', '1', '6'), KEY('M', 't', '3', '2'), KEY('M', 't', 'r', 'n'), KEY('A', 'l', 'p', 'h'),
      KEY('F', 'M', 's', 'k'), KEY('l', 'n', 'k', '2'), KEY('F', 'E', 'i', 'd'), KEY('F', 'X', 'i', 'd'),
      KEY('P', 'x', 'S', 'D')};
  for (size_t index = 0; index < sizeof keys / sizeof *keys; index++) {
    if (keys[index] == key) return true;
  }
  return false;
}

static void take_layers(PSDImage *self, Bytes layers) {
  if (layers.count >= 2) self->layerCount = (int16_t)read_number(&layers, 2);
}

/// Reads a block of additional information. Returns false at the end.
static bool read_block(PSDImage *self, Bytes *section) {
  uint64_t signature = read_number(section, 4), key = read_number(section, 4);
  if (signature != KEY('8', 'B', 'I', 'M') && signature != KEY('8', 'B', '6', '4')) return false;
  uint64_t count = read_number(section, self->isLarge && has_long_count(key) ? 8 : 4);
  Bytes content = read_part(section, count);
  switch (key) {
    case KEY('L', 'r', '1', '6'):
    case KEY('L', 'r', '3', '2'):
      take_layers(self, content);
      break;
    case KEY('M', 't', 'r', 'n'):
    case KEY('M', 't', '1', '6'):
    case KEY('M', 't', '3', '2'):
      self->hasMergedAlpha = !section->isShort;
      break;
    default: break;
  }
  // Photoshop pads the blocks of this section to a multiple of four bytes.
  read_part(section, -count & 3);
  return !section->isShort;
}

/// Reads the number of layers, which images of more than 8 bits have in a block after the section's own layers.
static void read_layers(PSDImage *self, Bytes section) {
  take_layers(self, read_part(&section, read_number(&section, self->isLarge ? 8 : 4)));
  read_part(&section, read_number(&section, 4));
  while (section.count > 0 && read_block(self, &section)) continue;
}

// MARK: Image

bool has_alpha_plane(const PSDImage *self) {
  // Specification, "Layer info": "If it is a negative number, its absolute value is the number of layers and the first
  // alpha channel contains the transparency data for the merged result."
  bool hasLayers = self->mode != PSDModeBitmap && self->mode != PSDModeIndexed;
  return hasLayers && self->planeCount > self->colorCount && (self->layerCount < 0 || self->hasMergedAlpha);
}

/// Returns the size of the ICC profile that fits the pixels.
static uint32_t fitting_profile(const PSDImage *self, DecodeText *text) {
  bool isConverted = self->mode == PSDModeCMYK || self->mode == PSDModeLab || self->depth == 32;
  if (!isConverted) return accepted_profile(self->profile.count, text);
  // These colors become sRGB, which the profile does not describe. Lab needs no profile.
  if (self->profile.count != 0 && self->mode != PSDModeLab) {
    add_warning(text, "the colors are approximate, because the ICC profile is not used");
  }
  return 0;
}

static DecodeStatus read_sections(PSDImage *self, Bytes *file, DecodeText *text) {
  Bytes palette = read_part(file, read_number(file, 4));
  Bytes resources = read_part(file, read_number(file, 4));
  Bytes layers = read_part(file, read_number(file, self->isLarge ? 8 : 4));
  self->compression = (uint32_t)read_number(file, 2);
  self->planes = *file;
  if (file->isShort) return fail(DecodeStatusTruncated, text, "the file ends before the merged image");
  if (self->mode == PSDModeIndexed) {
    if (palette.count < 768) return fail(DecodeStatusCorrupt, text, "the palette is too short");
    self->palette = palette.next;
  }
  read_resources(self, resources, text);
  read_layers(self, layers);
  return DecodeStatusOK;
}

static DecodeStatus check_support(const PSDImage *self, DecodeText *text) {
  if (self->lacksMergedImage && self->layerCount != 0) {
    return fail(DecodeStatusUnsupported, text,
                "the file has layers but no merged image, because it was saved without maximum compatibility");
  }
#if !__has_include(<zlib.h>)
  if (self->compression >= PSDCompressionZip) return fail(DecodeStatusUnsupported, text, "ZIP needs zlib");
#endif
  if (self->compression <= PSDCompressionZipWithPrediction) return DecodeStatusOK;
  return fail(DecodeStatusCorrupt, text, "there is no compression %u", self->compression);
}

/// Declares the channels: those of the colors after their conversion, and alpha.
static void declare(const PSDImage *self, DecodeHeader *header, DecodeText *text) {
  bool isColored = self->colorCount > 1 || self->mode == PSDModeIndexed;
  bool hasAlpha = self->mode == PSDModeIndexed ? self->transparentIndex < 256 : has_alpha_plane(self);
  header->width = self->width;
  header->height = self->height;
  header->channels = (isColored ? 3 : 1) + hasAlpha;
  header->profileCount = fitting_profile(self, text);
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  PSDImage *self = *image = calloc(1, sizeof *self);
  if (self == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  Bytes file = {.next = source->bytes, .count = source->count};
  self->limits = source->limits;
  self->transparentIndex = 256;
  DecodeStatus status = read_dimensions(self, &file, text);
  if (status == DecodeStatusOK) status = read_sections(self, &file, text);
  if (status == DecodeStatusOK) status = check_support(self, text);
  if (status == DecodeStatusOK) declare(self, header, text);
  return status;
}

static void copy_profile(Image image, uint8_t *bytes) {
  const PSDImage *self = image;
  DecodeText text = {0};
  memcpy(bytes, self->profile.next, fitting_profile(self, &text));
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  return decode_planes(image, target, text);
}

static void close_image(Image image) { free(image); }

static const Format format = {
    .id = DecodeFormatPSD,
    .library = library,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = close_image,
};

const Format *const decode_psd = &format;
