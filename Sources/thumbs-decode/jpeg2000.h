// The header of a JPEG 2000 file, which is read without a library: its boxes, and its codestream.

#ifndef JPEG2000_H
#define JPEG2000_H

#include <CDecoder.h>
#include <stddef.h>

/// A part of the file.
typedef struct Bytes {
  const uint8_t *start;
  size_t count;
} Bytes;

/// Returns a big-endian number; 0 where the bytes end before it.
static inline uint64_t number_at(Bytes bytes, size_t offset, size_t size) {
  uint64_t number = 0;
  if (offset > bytes.count || size > bytes.count - offset) return 0;
  for (size_t i = 0; i < size; i++) number = number << 8 | bytes.start[offset + i];
  return number;
}

static inline uint8_t byte_at(Bytes bytes, size_t offset) { return (uint8_t)number_at(bytes, offset, 1); }
static inline uint16_t short_at(Bytes bytes, size_t offset) { return (uint16_t)number_at(bytes, offset, 2); }
static inline uint32_t long_at(Bytes bytes, size_t offset) { return (uint32_t)number_at(bytes, offset, 4); }

static inline Bytes bytes_after(Bytes bytes, size_t count) {
  if (count > bytes.count) count = bytes.count;
  return (Bytes){bytes.start + count, bytes.count - count};
}

static inline Bytes first_bytes(Bytes bytes, size_t count) {
  return (Bytes){bytes.start, count < bytes.count ? count : bytes.count};
}

/// The components of an image at most. Files may have 16384, each of which takes memory for each tile.
enum { maxComponents = 16 };

/// A component of the codestream (ISO/IEC 15444-1, annex A.5.1).
typedef struct Component {
  /// The bits of a sample, 1 to 31.
  uint8_t precision;
  bool isSigned;
  /// The distance of two samples in the reference grid.
  uint8_t stepX, stepY;
} Component;

/// The source of a channel of the pixels.
typedef struct Channel {
  uint8_t component;
  /// True if the samples are indexes into a column of the palette.
  bool isIndexed;
  uint8_t column;
} Channel;

/// The palette: rows of big-endian numbers, one for each column (annex I.5.3.4).
typedef struct Palette {
  const uint8_t *bytes;
  uint32_t rowCount, rowSize, columnCount;
  /// The offset of each column in a row, and its bits and sign.
  uint16_t offsets[maxComponents];
  Component columns[maxComponents];
} Palette;

typedef struct JPEG2000Header {
  /// The codestream.
  const uint8_t *stream;
  size_t streamCount;
  /// True if the file ends before the last marker.
  bool isCut;
  /// The area of the image in the reference grid.
  uint32_t left, top, right, bottom;
  uint32_t componentCount;
  Component components[maxComponents];
  /// The number of times that the codestream can be halved.
  uint8_t levels;

  /// The channels of the pixels, and those of them that are colors.
  uint32_t channelCount, colorCount;
  Channel channels[4];
  /// True if the colors are luma and chroma.
  bool isYCC;
  bool isPremultiplied;
  Palette palette;
  /// The ICC profile, or NULL.
  const uint8_t *profile;
  uint32_t profileCount;

  /// The distance of two pixels in the reference grid, and the place of the first pixel, counted in such distances.
  uint32_t stepX, stepY, firstX, firstY;
} JPEG2000Header;

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

/// Returns true for a codestream without boxes around it.
bool begins_codestream(Bytes bytes);

/// Reads the main header of the codestream. Sets `offset` to that of the first tile-part.
DecodeStatus read_main_header(JPEG2000Header *header, Stream *stream, size_t *offset, DecodeText *text);

/// Reads all tile-parts, from the offset of the first one, after it has checked how much work the tiles are.
DecodeStatus read_tiles(JPEG2000Header *header, Stream *stream, size_t offset, DecodeText *text);

/// Reads the boxes and the markers. Sets the size, the channels, the profile and the halvings of `declared`.
DecodeStatus read_jpeg2000_header(
    const Source *source, JPEG2000Header *header, DecodeHeader *declared, DecodeText *text);

/// Returns a number divided by a power of two, rounded up.
static inline uint32_t halved(uint32_t number, uint32_t times) {
  if (times > 32) return number != 0;
  return (uint32_t)((number + (UINT64_C(1) << times) - 1) >> times);
}

/// Returns the quotient, rounded up.
static inline uint32_t divided_up(uint32_t number, uint32_t divisor) {
  return number / divisor + (number % divisor != 0);
}

static inline uint32_t smaller(uint32_t one, uint32_t other) { return one < other ? one : other; }

/// Returns the level of 8 bits for an entry of the palette.
uint8_t palette_level(const Palette *palette, uint32_t row, uint32_t column);

/// Returns the level of 8 bits for a sample, which is clamped to the range of its component.
uint8_t level_of(const Component *component, int64_t sample);

#endif
