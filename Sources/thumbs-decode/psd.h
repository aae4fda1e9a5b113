// An open PSD image, and the functions that its header and its pixels share.

#ifndef PSD_H
#define PSD_H

#include <CDecoder.h>

/// A part of the file, read from its start. All numbers are big-endian.
typedef struct Bytes {
  const uint8_t *next;
  size_t count;
  /// True if more bytes were wanted than there are.
  bool isShort;
} Bytes;

/// Reads a number of 1 to 8 bytes. Returns 0 if the part has fewer.
uint64_t read_number(Bytes *bytes, uint32_t size);

/// Reads a part of a part, which is empty if the part has fewer bytes.
Bytes read_part(Bytes *bytes, uint64_t count);

/// The color modes.
typedef enum PSDMode {
  PSDModeBitmap = 0,
  PSDModeGray = 1,
  PSDModeIndexed = 2,
  PSDModeRGB = 3,
  PSDModeCMYK = 4,
  PSDModeDuotone = 8,
  PSDModeLab = 9,
} PSDMode;

/// The compressions of the merged image.
typedef enum PSDCompression {
  PSDCompressionNone = 0,
  PSDCompressionPackBits = 1,
  PSDCompressionZip = 2,
  PSDCompressionZipWithPrediction = 3,
} PSDCompression;

/// An open image.
typedef struct PSDImage {
  Limits limits;
  /// True for PSB, whose lengths have more bytes.
  bool isLarge;
  uint32_t width, height, depth, mode;
  /// The planes of the merged image, and how many of them are colors. The planes after those are alpha and masks.
  uint32_t planeCount, colorCount;
  /// The number of layers. It is negative if the plane after the colors is the alpha of the merged image.
  int32_t layerCount;
  /// True if a block of the file says so in another way.
  bool hasMergedAlpha;
  /// True if the merged image is blank.
  bool lacksMergedImage;
  /// The colors of an indexed image: 256 levels of red, of green and of blue.
  const uint8_t *palette;
  /// The index that is transparent; 256 or more if none is.
  uint32_t transparentIndex;
  Bytes profile;
  /// The planes of the merged image, after the number of their compression.
  uint32_t compression;
  Bytes planes;
} PSDImage;

/// Returns true if the plane after the colors is alpha.
bool has_alpha_plane(const PSDImage *self);

/// Decodes the merged image. `target->rowCount` gets the complete rows.
DecodeStatus decode_planes(const PSDImage *self, Target *target, DecodeText *text);

#endif
