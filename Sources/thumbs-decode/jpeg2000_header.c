// Reads the header of a JPEG 2000 file: the boxes of JP2 and the markers of the codestream (ISO/IEC 15444-1, annexes I
// and A).
//
// OpenJPEG reads them, too. But it reports the palette and the kinds of the channels only after it has decoded the
// image, allocates memory for all tiles and components before it knows if the file has them, and takes a tile that is
// missing for a gray one.

#include "jpeg2000.h"

#include <stdlib.h>
#include <string.h>

uint32_t halved(uint32_t number, uint32_t times) {
  if (times > 32) return number != 0;
  return (uint32_t)((number + (UINT64_C(1) << times) - 1) >> times);
}

uint32_t divided_up(uint32_t number, uint32_t divisor) { return number / divisor + (number % divisor != 0); }

// MARK: Bytes

/// A part of the file.
typedef struct Bytes {
  const uint8_t *start;
  size_t count;
} Bytes;

/// Returns a big-endian number; 0 where the bytes end before it.
static uint64_t number_at(Bytes bytes, size_t offset, size_t size) {
  uint64_t number = 0;
  if (offset > bytes.count || size > bytes.count - offset) return 0;
  for (size_t i = 0; i < size; i++) number = number << 8 | bytes.start[offset + i];
  return number;
}

static uint8_t byte_at(Bytes bytes, size_t offset) { return (uint8_t)number_at(bytes, offset, 1); }
static uint16_t short_at(Bytes bytes, size_t offset) { return (uint16_t)number_at(bytes, offset, 2); }
static uint32_t long_at(Bytes bytes, size_t offset) { return (uint32_t)number_at(bytes, offset, 4); }

static Bytes bytes_after(Bytes bytes, size_t count) {
  if (count > bytes.count) count = bytes.count;
  return (Bytes){bytes.start + count, bytes.count - count};
}

static Bytes first_bytes(Bytes bytes, size_t count) {
  return (Bytes){bytes.start, count < bytes.count ? count : bytes.count};
}

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

// MARK: Boxes

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

// MARK: Work

/// The limit on packets, code-blocks, and the places where OpenJPEG looks for packets. A gray image of 100 megapixels
/// with blocks of 16 by 16 pixels and 12 layers has 1 million.
static const uint64_t maxWork = 1 << 24;

/// The tiles of an image at most. OpenJPEG takes 6 kB for each, and 1 kB for each component of it.
enum { maxTiles = 1 << 14 };

/// The coding of a component (annex A.6.1).
typedef struct Coding {
  uint8_t levels, blockWidth, blockHeight;
  /// The sizes of precincts, one byte for each resolution; no bytes for the largest size.
  Bytes precincts;
} Coding;

/// The codestream while it is read.
typedef struct Stream {
  Bytes bytes;
  uint32_t tileLeft, tileTop, tileWidth, tileHeight;
  uint64_t tileCount;
  uint16_t layers;
  Coding codings[maxComponents];
  bool hasSize, hasCoding, hasOwnCoding[maxComponents];
  uint64_t work;
} Stream;

static uint32_t smaller(uint32_t one, uint32_t other) { return one < other ? one : other; }

/// Adds the work for a component in a number of tiles of a size, unless the limit is exceeded already.
static void add_work(Stream *stream, const Coding *coding, uint32_t width, uint32_t height, uint32_t tiles) {
  uint32_t stepX = 32, stepY = 32;
  if (stream->work > maxWork) return;
  for (uint32_t level = 0; level <= coding->levels && stream->work <= maxWork; level++) {
    uint32_t times = coding->levels - level, x = 15, y = 15;
    uint32_t columns = halved(width, times), rows = halved(height, times);
    if (coding->precincts.count > 0) {
      x = byte_at(coding->precincts, level) & 15;
      y = byte_at(coding->precincts, level) >> 4;
    }
    uint32_t half = level > 0, bandX = x > half ? x - half : 0, bandY = y > half ? y - half : 0;
    uint64_t precincts = (uint64_t)halved(columns, x) * halved(rows, y);
    uint64_t blocks = (uint64_t)halved(columns, smaller(coding->blockWidth, bandX) + half) *
                      halved(rows, smaller(coding->blockHeight, bandY) + half) * (half ? 3 : 1);
    if (precincts > maxWork || blocks > maxWork) precincts = blocks = maxWork + 1;
    // OpenJPEG allocates several blocks of memory for each precinct.
    stream->work += (precincts * (stream->layers + 16) + blocks) * tiles;
    stepX = smaller(stepX, x + times);
    stepY = smaller(stepY, y + times);
  }
  uint64_t places = (uint64_t)halved(width, stepX) * halved(height, stepY);
  stream->work += (places < maxWork ? places : maxWork + 1) * (coding->levels + 1) * tiles;
}

/// Adds the work for a component in some tiles, which may be larger than the image.
static void add_component(
    const JPEG2000Header *self, Stream *stream, const Coding *coding, uint32_t i, uint32_t tiles) {
  const Component *component = &self->components[i];
  uint32_t width = smaller(stream->tileWidth, self->right - self->left);
  uint32_t height = smaller(stream->tileHeight, self->bottom - self->top);
  width = divided_up(width, component->stepX);
  height = divided_up(height, component->stepY);
  add_work(stream, coding, width, height, tiles);
}

// MARK: Markers

enum { START = 0xFF4F, SIZE = 0xFF51, CODING = 0xFF52, COMPONENT_CODING = 0xFF53, TILE_PART = 0xFF90, DATA = 0xFF93,
       END = 0xFFD9 };

static DecodeStatus read_components(JPEG2000Header *self, Bytes segment, DecodeText *text) {
  self->componentCount = short_at(segment, 34);
  if (self->componentCount > maxComponents) {
    return fail(DecodeStatusLimit, text, "the image has %u components", self->componentCount);
  }
  if (self->componentCount == 0 || segment.count < 36 + self->componentCount * 3) {
    return fail(DecodeStatusCorrupt, text, "invalid size of the codestream");
  }
  for (uint32_t i = 0; i < self->componentCount; i++) {
    Bytes bytes = bytes_after(segment, 36 + i * 3);
    self->components[i] = (Component){
        .precision = (byte_at(bytes, 0) & 0x7F) + 1, .isSigned = byte_at(bytes, 0) >> 7, .stepX = byte_at(bytes, 1),
        .stepY = byte_at(bytes, 2)};
    if (self->components[i].stepX == 0 || self->components[i].stepY == 0) {
      return fail(DecodeStatusCorrupt, text, "invalid size of a component");
    }
    // As many as OpenJPEG decodes.
    if (self->components[i].precision > 31) {
      return fail(DecodeStatusUnsupported, text, "samples of %u bits are not supported", self->components[i].precision);
    }
  }
  return DecodeStatusOK;
}

/// Returns true if the first tile has a part of the image, as it must.
static bool has_valid_tiles(const JPEG2000Header *self, const Stream *stream) {
  return stream->tileWidth > 0 && stream->tileHeight > 0 && stream->tileLeft <= self->left &&
         stream->tileTop <= self->top && self->left - stream->tileLeft < stream->tileWidth &&
         self->top - stream->tileTop < stream->tileHeight;
}

static DecodeStatus read_size(JPEG2000Header *self, Stream *stream, Bytes segment, DecodeText *text) {
  self->right = long_at(segment, 2);
  self->bottom = long_at(segment, 6);
  self->left = long_at(segment, 10);
  self->top = long_at(segment, 14);
  stream->tileWidth = long_at(segment, 18);
  stream->tileHeight = long_at(segment, 22);
  stream->tileLeft = long_at(segment, 26);
  stream->tileTop = long_at(segment, 30);
  stream->hasSize = true;
  if (self->right <= self->left || self->bottom <= self->top || !has_valid_tiles(self, stream)) {
    return fail(DecodeStatusCorrupt, text, "invalid size of the codestream");
  }
  stream->tileCount = (uint64_t)divided_up(self->right - stream->tileLeft, stream->tileWidth) *
                      divided_up(self->bottom - stream->tileTop, stream->tileHeight);
  return read_components(self, segment, text);
}

/// Reads the part that the codings of the image and of a component have in common. Returns false for numbers that make
/// no sense.
static bool read_coding(Bytes bytes, bool hasPrecincts, Coding *coding) {
  coding->levels = byte_at(bytes, 0);
  coding->blockWidth = (byte_at(bytes, 1) & 15) + 2;
  coding->blockHeight = (byte_at(bytes, 2) & 15) + 2;
  coding->precincts = hasPrecincts ? first_bytes(bytes_after(bytes, 5), coding->levels + 1u) : (Bytes){0};
  return bytes.count >= 5 && coding->levels <= 32 && (!hasPrecincts || coding->precincts.count == coding->levels + 1u);
}

/// Takes the coding of one component or, if that is -1, of all that have no separate one. `tiles` is the number of
/// tiles that have it; 0 if that is not yet certain.
static void use_coding(JPEG2000Header *self, Stream *stream, Coding coding, int component, uint32_t tiles) {
  if (tiles > 0 && coding.levels < self->levels) self->levels = coding.levels;
  for (uint32_t i = 0; i < self->componentCount; i++) {
    if (component >= 0 ? i != (uint32_t)component : tiles == 0 && stream->hasOwnCoding[i]) continue;
    if (tiles > 0) {
      add_component(self, stream, &coding, i, tiles);
    } else {
      stream->codings[i] = coding;
      stream->hasOwnCoding[i] = component >= 0;
    }
  }
}

/// Reads a segment of the main header, or of the header of a tile-part.
static DecodeStatus read_segment(
    JPEG2000Header *self, Stream *stream, uint16_t marker, Bytes segment, uint32_t tiles, DecodeText *text) {
  Coding coding;
  bool isValid = true, isComplete = segment.count >= 5;
  if (marker == SIZE && !stream->hasSize) return read_size(self, stream, segment, text);
  if (!stream->hasSize) return fail(DecodeStatusCorrupt, text, "the codestream does not begin with its size");
  if (marker == CODING) {
    isValid = isComplete && read_coding(bytes_after(segment, 5), byte_at(segment, 0) & 1, &coding);
    if (isValid && short_at(segment, 2) > stream->layers) stream->layers = short_at(segment, 2);
    if (isValid) use_coding(self, stream, coding, -1, tiles);
    stream->hasCoding = true;
  } else if (marker == COMPONENT_CODING) {
    // The number of the component has one byte if there are fewer than 257.
    isValid = isComplete && read_coding(bytes_after(segment, 2), byte_at(segment, 1) & 1, &coding) &&
              byte_at(segment, 0) < self->componentCount;
    if (isValid) use_coding(self, stream, coding, byte_at(segment, 0), tiles);
  }
  return isValid ? DecodeStatusOK : fail(DecodeStatusCorrupt, text, "invalid coding of the codestream");
}

/// Reads the segments up to a marker, whose offset is returned in `offset`. Tolerates the end of the bytes if
/// `tiles` is not 0.
static DecodeStatus read_segments(
    JPEG2000Header *self, Stream *stream, Bytes bytes, uint16_t last, uint32_t tiles, size_t *offset,
    DecodeText *text) {
  for (;;) {
    uint16_t marker = short_at(bytes, *offset), size = short_at(bytes, *offset + 2);
    if (marker == last) return DecodeStatusOK;
    if (*offset + 4 > bytes.count || *offset + 2 + size > bytes.count) {
      return fail(DecodeStatusTruncated, text, "the file ends within the header");
    }
    if (marker < 0xFF00 || size < 2) return fail(DecodeStatusCorrupt, text, "invalid marker in the codestream");
    Bytes segment = first_bytes(bytes_after(bytes, *offset + 4), size - 2u);
    DecodeStatus status = read_segment(self, stream, marker, segment, tiles, text);
    if (status != DecodeStatusOK) return status;
    *offset += 2u + size;
  }
}

static DecodeStatus check_work(const Stream *stream, DecodeText *text) {
  if (stream->work <= maxWork) return DecodeStatusOK;
  return fail(DecodeStatusLimit, text, "the image consists of too many precincts, code-blocks or layers");
}

static DecodeStatus read_main_header(JPEG2000Header *self, Stream *stream, size_t *offset, DecodeText *text) {
  if (short_at(stream->bytes, 0) != START && stream->bytes.count >= 2) {
    return fail(DecodeStatusCorrupt, text, "the codestream does not begin with its marker");
  }
  *offset = 2;
  DecodeStatus status = read_segments(self, stream, stream->bytes, TILE_PART, 0, offset, text);
  if (status != DecodeStatusOK) return status;
  return stream->hasCoding ? status : fail(DecodeStatusCorrupt, text, "the codestream lacks its coding");
}

// MARK: Tile-parts

/// The tile-parts of a tile: those that were found, and those that the tile declares, 0 if it does not.
typedef struct Parts {
  uint8_t found, declared;
} Parts;

/// Returns the size of the tile-part at an offset, which may be larger than the rest; 0 for an invalid one.
static uint64_t part_size(const Stream *stream, size_t offset) {
  uint64_t size = number_at(stream->bytes, offset + 6, 4), left = stream->bytes.count - offset;
  if (size == 0) {
    // It reaches up to the last marker. Without that, nobody knows if it is complete.
    bool isMarked = short_at(stream->bytes, stream->bytes.count - 2) == END;
    return isMarked ? left - 2 : left + 1;
  }
  return size < 14 ? 0 : size;
}

static DecodeStatus read_part(
    JPEG2000Header *self, Stream *stream, Parts *parts, size_t offset, uint64_t size, DecodeText *text) {
  Bytes part = first_bytes(bytes_after(stream->bytes, offset), size);
  Parts *tile = &parts[short_at(part, 4)];
  if (tile->found < UINT8_MAX) tile->found++;
  if (byte_at(part, 11) > tile->declared) tile->declared = byte_at(part, 11);
  size_t end = 12;
  DecodeStatus status = read_segments(self, stream, part, DATA, 1, &end, text);
  if (status == DecodeStatusTruncated) return fail(DecodeStatusCorrupt, text, "invalid size of a tile-part");
  return status == DecodeStatusOK ? check_work(stream, text) : status;
}

/// Returns true unless a tile has fewer parts than it declares, or none.
static bool are_complete(const Parts *parts, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    if (parts[i].found == 0 || parts[i].found < parts[i].declared) return false;
  }
  return true;
}

/// Goes from tile-part to tile-part, and finds out if all are there.
static DecodeStatus read_parts(JPEG2000Header *self, Stream *stream, Parts *parts, size_t offset, DecodeText *text) {
  size_t count = stream->bytes.count;
  while (short_at(stream->bytes, offset) != END) {
    self->isCut = count - offset < 12;
    if (self->isCut) return DecodeStatusOK;
    uint64_t size = part_size(stream, offset);
    bool isValid = short_at(stream->bytes, offset) == TILE_PART && short_at(stream->bytes, offset + 2) == 10;
    if (!isValid || size == 0 || short_at(stream->bytes, offset + 4) >= stream->tileCount) {
      return fail(DecodeStatusCorrupt, text, "invalid tile-part");
    }
    self->isCut = size > count - offset;
    if (self->isCut) return DecodeStatusOK;
    DecodeStatus status = read_part(self, stream, parts, offset, size, text);
    if (status != DecodeStatusOK) return status;
    offset += size;
  }
  if (are_complete(parts, stream->tileCount)) return DecodeStatusOK;
  return fail(DecodeStatusCorrupt, text, "a tile is missing");
}

/// Reads all tile-parts, from the offset of the first one, after it has checked how much work the tiles are.
static DecodeStatus read_tiles(JPEG2000Header *self, Stream *stream, size_t offset, DecodeText *text) {
  if (stream->tileCount > maxTiles) {
    return fail(DecodeStatusLimit, text, "the image has %llu tiles", (unsigned long long)stream->tileCount);
  }
  self->levels = 32;
  for (uint32_t i = 0; i < self->componentCount; i++) {
    use_coding(self, stream, stream->codings[i], (int)i, (uint32_t)stream->tileCount);
  }
  DecodeStatus status = check_work(stream, text);
  if (status != DecodeStatusOK) return status;
  Parts *parts = calloc(stream->tileCount, sizeof *parts);
  if (parts == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  status = read_parts(self, stream, parts, offset, text);
  free(parts);
  return status;
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
  if (short_at(file, 0) == START) {
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
