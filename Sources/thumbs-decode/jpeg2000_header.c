// Reads the boxes of a JPEG 2000 file (ISO/IEC 15444-1, annex I), and what the codestream declares; see
// jpeg2000_stream.c.
//
// OpenJPEG reads the boxes, too. But it reports the palette and the kinds of the channels only after it has decoded the
// image.

#include "jpeg2000.h"

// MARK: Boxes

/// Returns the size of a box without its header; fewer bytes if the file ends before. Goes to the next box. `isCut` is
/// set to true if the file ends within this one. Returns false at the end.
static bool take_box(Bytes *rest, uint32_t *kind, Bytes *content, bool *isCut) {
  uint64_t size = number_at(*rest, 0, 4), headerSize = 8;
  *kind = long_at(*rest, 4);
  if (size == 1) {
    size = number_at(*rest, 8, 8);
    headerSize = 16;
  }
  *isCut = rest->count > 0 && rest->count < headerSize;
  if (rest->count < headerSize) return false;
  // Zero is for a box up to the end.
  if (size == 0) size = rest->count;
  if (size < headerSize) return false;
  *isCut = size > rest->count;
  *content = bytes_after(first_bytes(*rest, size), headerSize);
  *rest = bytes_after(*rest, size);
  return true;
}

/// The kinds of boxes.
enum {
  HEADER = 0x6A703268,        // jp2h
  STREAM = 0x6A703263,        // jp2c
  COLORS = 0x636F6C72,        // colr
  PALETTE = 0x70636C72,       // pclr
  PALETTE_USE = 0x636D6170,   // cmap
  CHANNEL_KINDS = 0x63646566  // cdef
};

/// The boxes of the header that matter. Those that are missing have no bytes.
typedef struct Boxes {
  Bytes colors, palette, paletteUse, channelKinds;
} Boxes;

/// Returns true for a description of the colors that is used: enumerated, or an ICC profile.
static bool is_usable(Bytes colors) { return colors.count >= 7 && byte_at(colors, 0) >= 1 && byte_at(colors, 0) <= 3; }

static DecodeStatus read_header_box(Bytes content, Boxes *boxes, DecodeText *text) {
  uint32_t kind;
  Bytes box;
  bool isCut;
  while (take_box(&content, &kind, &box, &isCut)) {
    if (isCut) return fail(DecodeStatusCorrupt, text, "a box is longer than the one around it");
    if (kind == COLORS && boxes->colors.count == 0 && is_usable(box)) boxes->colors = box;
    if (kind == PALETTE) boxes->palette = box;
    if (kind == PALETTE_USE) boxes->paletteUse = box;
    if (kind == CHANNEL_KINDS) boxes->channelKinds = box;
  }
  return DecodeStatusOK;
}

/// Finds the codestream and the header boxes.
static DecodeStatus read_boxes(JPEG2000Header *self, Bytes file, Boxes *boxes, DecodeText *text) {
  uint32_t kind;
  Bytes box;
  bool isCut = false;
  while (self->stream == NULL && take_box(&file, &kind, &box, &isCut)) {
    if (kind == STREAM) {
      self->stream = box.start;
      self->streamCount = box.count;
    } else if (isCut) {
      break;
    } else if (kind == HEADER) {
      DecodeStatus status = read_header_box(box, boxes, text);
      if (status != DecodeStatusOK) return status;
    }
  }
  if (self->stream != NULL) return DecodeStatusOK;
  if (isCut) return fail(DecodeStatusTruncated, text, "the file ends within the header");
  return fail(DecodeStatusCorrupt, text, "there is no codestream in the file");
}

// MARK: Colors

/// The numbers of enumerated color spaces (annex I.5.3.3, and ISO/IEC 15444-2, annex M).
enum { CMYK = 12, BILEVEL = 15, SRGB = 16, GRAY = 17, SYCC = 18, ESYCC = 24 };

static DecodeStatus use_number(JPEG2000Header *self, uint32_t number, DecodeText *text) {
  switch (number) {
    case SYCC:
    case ESYCC:
      self->isYCC = true;
      self->colorCount = 3;
      return DecodeStatusOK;
    case SRGB:
      self->colorCount = 3;
      return DecodeStatusOK;
    case GRAY:
    case BILEVEL:
      self->colorCount = 1;
      return DecodeStatusOK;
    case CMYK:
      return fail(DecodeStatusUnsupported, text, "CMYK colors are not supported");
    default:
      return fail(DecodeStatusUnsupported, text, "the color space number %u is not supported", number);
  }
}

static DecodeStatus use_profile(JPEG2000Header *self, Bytes profile, DecodeText *text) {
  uint32_t space = long_at(profile, 16);
  if (space == 0x434D594B) return fail(DecodeStatusUnsupported, text, "CMYK colors are not supported");
  self->colorCount = space == 0x47524159 ? 1 : 3;
  self->profileCount = accepted_profile(profile.count, text);
  self->profile = profile.start;
  return DecodeStatusOK;
}

/// Sets the number of colors; 0 if it is unknown.
static DecodeStatus read_colors(JPEG2000Header *self, Bytes colors, DecodeText *text) {
  if (colors.count == 0) return DecodeStatusOK;
  if (byte_at(colors, 0) == 1) return use_number(self, long_at(colors, 3), text);
  return use_profile(self, bytes_after(colors, 3), text);
}

// MARK: Palette

static bool read_palette(Palette *palette, Bytes box) {
  enum { maxRows = 1024 };
  palette->rowCount = short_at(box, 0);
  palette->columnCount = byte_at(box, 2);
  if (palette->rowCount == 0 || palette->rowCount > maxRows || palette->columnCount > maxComponents) return false;
  for (uint32_t i = 0; i < palette->columnCount; i++) {
    uint8_t depth = byte_at(box, 3 + i);
    palette->columns[i] = (Component){.precision = (depth & 0x7F) + 1, .isSigned = depth >> 7};
    palette->offsets[i] = (uint16_t)palette->rowSize;
    if (palette->columns[i].precision > 31) return false;
    palette->rowSize += (palette->columns[i].precision + 7u) / 8;
  }
  Bytes rows = bytes_after(box, 3 + palette->columnCount);
  palette->bytes = rows.start;
  return rows.count >= (size_t)palette->rowCount * palette->rowSize;
}

uint8_t level_of(const Component *component, int64_t sample) {
  int64_t top = (INT64_C(1) << component->precision) - 1;
  if (component->isSigned) sample += INT64_C(1) << (component->precision - 1);
  if (sample < 0) sample = 0;
  if (sample > top) sample = top;
  return (uint8_t)((sample * 255 + top / 2) / top);
}

uint8_t palette_level(const Palette *palette, uint32_t row, uint32_t column) {
  const Component *kind = &palette->columns[column];
  const uint8_t *bytes = palette->bytes + (size_t)row * palette->rowSize + palette->offsets[column];
  uint32_t size = (kind->precision + 7u) / 8;
  int64_t number = (int64_t)number_at((Bytes){bytes, size}, 0, size);
  // The sign is the highest bit of the number.
  if (kind->isSigned && number >> (kind->precision - 1) & 1) number -= INT64_C(1) << kind->precision;
  return level_of(kind, number);
}

// MARK: Channels

/// The channels before their kinds are known.
typedef struct Channels {
  uint32_t count;
  Channel list[maxComponents];
} Channels;

/// Makes channels of the components, by the palette if there is one.
static DecodeStatus map_channels(JPEG2000Header *self, const Boxes *boxes, Channels *channels, DecodeText *text) {
  if (boxes->palette.count == 0) {
    channels->count = self->componentCount;
    for (uint32_t i = 0; i < channels->count; i++) channels->list[i].component = (uint8_t)i;
    return DecodeStatusOK;
  }
  channels->count = (uint32_t)(boxes->paletteUse.count / 4);
  bool isValid = read_palette(&self->palette, boxes->palette) && channels->count > 0;
  if (!isValid || channels->count > maxComponents) return fail(DecodeStatusCorrupt, text, "invalid palette");
  for (uint32_t i = 0; i < channels->count; i++) {
    Bytes bytes = bytes_after(boxes->paletteUse, i * 4);
    uint16_t component = short_at(bytes, 0);
    bool isIndexed = byte_at(bytes, 2) == 1;
    if (component >= self->componentCount || (isIndexed && byte_at(bytes, 3) >= self->palette.columnCount)) {
      return fail(DecodeStatusCorrupt, text, "invalid palette");
    }
    channels->list[i] = (Channel){(uint8_t)component, isIndexed, byte_at(bytes, 3)};
  }
  return DecodeStatusOK;
}

/// Returns the number of channels that are colors according to `kinds`.
static uint32_t count_colors(Bytes kinds) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < short_at(kinds, 0) && 8 + i * 6 <= kinds.count; i++) {
    if (short_at(kinds, 4 + i * 6) == 0) count++;
  }
  return count;
}

/// Sets the number of colors if the file does not declare it, or declares more than it has channels.
static void settle_colors(JPEG2000Header *self, const Channels *channels, Bytes kinds, DecodeText *text) {
  uint32_t count = kinds.count > 0 ? count_colors(kinds) : channels->count == 2 ? 1 : channels->count;
  if (self->colorCount > channels->count) {
    add_warning(text, "the color space has more colors than the image has channels");
    self->colorCount = self->profileCount = self->isYCC = 0;
  }
  if (self->colorCount == 0) self->colorCount = count >= 3 && channels->count >= 3 ? 3 : 1;
}

/// Chooses the channels of the pixels by their kinds (annex I.5.3.6). Without these, a channel after the colors is
/// alpha, as other programs assume.
static void choose_channels(JPEG2000Header *self, const Channels *channels, Bytes kinds) {
  enum { COLOR = 0, ALPHA = 1, PREMULTIPLIED_ALPHA = 2 };
  uint32_t colors = self->colorCount, alpha = kinds.count == 0 && channels->count == colors + 1 ? colors : UINT32_MAX;
  for (uint32_t i = 0; i < colors; i++) self->channels[i] = channels->list[i];
  for (uint32_t i = 0; i < short_at(kinds, 0) && 8 + i * 6 <= kinds.count; i++) {
    uint16_t channel = short_at(kinds, 2 + i * 6), kind = short_at(kinds, 4 + i * 6);
    uint16_t color = short_at(kinds, 6 + i * 6);
    if (channel >= channels->count) continue;
    if (kind == COLOR && color >= 1 && color <= colors) self->channels[color - 1] = channels->list[channel];
    if ((kind == ALPHA || kind == PREMULTIPLIED_ALPHA) && alpha == UINT32_MAX) {
      alpha = channel;
      self->isPremultiplied = kind == PREMULTIPLIED_ALPHA;
    }
  }
  self->channelCount = colors + (alpha != UINT32_MAX);
  if (alpha != UINT32_MAX) self->channels[colors] = channels->list[alpha];
}

// MARK: Size

static const Component *component_of(const JPEG2000Header *self, uint32_t channel) {
  return &self->components[self->channels[channel].component];
}

/// Finds the place of the pixels in the reference grid. The densest component has a sample for each.
static DecodeStatus place_pixels(JPEG2000Header *self, DecodeHeader *declared, DecodeText *text) {
  self->stepX = self->stepY = UINT8_MAX;
  for (uint32_t i = 0; i < self->channelCount; i++) {
    self->stepX = smaller(self->stepX, component_of(self, i)->stepX);
    self->stepY = smaller(self->stepY, component_of(self, i)->stepY);
  }
  for (uint32_t i = 0; i < self->channelCount; i++) {
    if (component_of(self, i)->stepX % self->stepX != 0 || component_of(self, i)->stepY % self->stepY != 0) {
      return fail(DecodeStatusUnsupported, text, "this subsampling is not supported");
    }
  }
  self->firstX = divided_up(self->left, self->stepX);
  self->firstY = divided_up(self->top, self->stepY);
  declared->width = divided_up(self->right, self->stepX) - self->firstX;
  declared->height = divided_up(self->bottom, self->stepY) - self->firstY;
  return DecodeStatusOK;
}

/// Returns how many times the image can be halved so that its size is rounded up. The smaller image has averages, which
/// make no sense of indexes and few bits, and are wrong for colors that are not multiplied by their alpha.
static uint8_t count_halvings(const JPEG2000Header *self) {
  uint32_t halvings = self->levels;
  bool hasAlpha = self->channelCount > self->colorCount;
  if (hasAlpha && !self->isPremultiplied) return 0;
  for (uint32_t i = 0; i < self->channelCount; i++) {
    if (self->channels[i].isIndexed || component_of(self, i)->precision < 8) return 0;
  }
  if (self->firstX != 0) halvings = smaller(halvings, (uint32_t)__builtin_ctz(self->firstX));
  if (self->firstY != 0) halvings = smaller(halvings, (uint32_t)__builtin_ctz(self->firstY));
  return (uint8_t)halvings;
}

// MARK: Header

static DecodeStatus interpret(JPEG2000Header *self, const Boxes *boxes, DecodeText *text) {
  Channels channels = {0};
  DecodeStatus status = read_colors(self, boxes->colors, text);
  if (status == DecodeStatusOK) status = map_channels(self, boxes, &channels, text);
  if (status != DecodeStatusOK) return status;
  settle_colors(self, &channels, boxes->channelKinds, text);
  choose_channels(self, &channels, boxes->channelKinds);
  // Only chroma is subsampled. Files that do not say so are common.
  if (self->colorCount == 3) {
    const Component *luma = component_of(self, 0), *chroma = component_of(self, 1);
    if (chroma->stepX > luma->stepX || chroma->stepY > luma->stepY) self->isYCC = true;
  }
  return DecodeStatusOK;
}

DecodeStatus read_jpeg2000_header(
    const Source *source, JPEG2000Header *header, DecodeHeader *declared, DecodeText *text) {
  Bytes file = {source->bytes, source->count};
  Boxes boxes = {0};
  DecodeStatus status = DecodeStatusOK;
  if (begins_codestream(file)) {
    header->stream = file.start;
    header->streamCount = file.count;
  } else {
    status = read_boxes(header, file, &boxes, text);
  }
  if (status != DecodeStatusOK) return status;
  Stream stream = {.bytes = {header->stream, header->streamCount}};
  size_t offset = 0;
  status = read_main_header(header, &stream, &offset, text);
  if (status == DecodeStatusOK) status = interpret(header, &boxes, text);
  if (status == DecodeStatusOK) status = place_pixels(header, declared, text);
  if (status != DecodeStatusOK) return status;
  if (!check_size(declared->width, declared->height, &source->limits, &status, text)) return status;
  status = read_tiles(header, &stream, offset, text);
  if (status != DecodeStatusOK) return status;
  declared->channels = header->channelCount;
  declared->profileCount = header->profileCount;
  declared->halvings = count_halvings(header);
  return DecodeStatusOK;
}
