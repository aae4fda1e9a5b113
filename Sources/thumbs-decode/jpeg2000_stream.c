// Reads the markers of a JPEG 2000 codestream (ISO/IEC 15444-1, annex A), without decoding its samples.
//
// OpenJPEG reads them, too. But it allocates memory for all tiles and components before it knows if the file has them,
// and takes a tile that is missing for a gray one.

#include "jpeg2000.h"

#include <stdlib.h>

// MARK: Work

/// The limit on packets, code-blocks, and the places where OpenJPEG looks for packets. A gray image of 100 megapixels
/// with blocks of 16 by 16 pixels and 12 layers has 1 million.
static const uint64_t maxWork = 1 << 24;

/// The tiles of an image at most. OpenJPEG takes 6 kB for each, and 1 kB for each component of it.
enum { maxTiles = 1 << 14 };

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

bool begins_codestream(Bytes bytes) { return short_at(bytes, 0) == START; }

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

DecodeStatus read_main_header(JPEG2000Header *self, Stream *stream, size_t *offset, DecodeText *text) {
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

DecodeStatus read_tiles(JPEG2000Header *self, Stream *stream, size_t offset, DecodeText *text) {
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
