// The header of a JPEG 2000 file, which is read without a library.

#ifndef JPEG2000_H
#define JPEG2000_H

#include <CDecoder.h>

/// The components of an image at most. Files may have 16384, each of which takes memory for each tile.
enum { maxComponents = 16 };

/// A component of the codestream (ISO/IEC 15444-1, annex A.5.1).
typedef struct Component {
  /// The bits of a sample, 1 to 38.
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

/// Reads the boxes and the markers. Sets the size, the channels, the profile and the halvings of `declared`.
DecodeStatus read_jpeg2000_header(
    const Source *source, JPEG2000Header *header, DecodeHeader *declared, DecodeText *text);

/// Returns a number divided by a power of two, rounded up.
uint32_t halved(uint32_t number, uint32_t times);

/// Returns the quotient, rounded up.
uint32_t divided_up(uint32_t number, uint32_t divisor);

/// Returns the level of 8 bits for an entry of the palette.
uint8_t palette_level(const Palette *palette, uint32_t row, uint32_t column);

/// Returns the level of 8 bits for a sample, which is clamped to the range of its component.
uint8_t level_of(const Component *component, int64_t sample);

#endif
