// An open TIFF image, and the ways to its pixels.

#ifndef TIFF_H
#define TIFF_H

#include <tiffio.h>

#include <CDecoder.h>

/// A TIFF file in memory.
typedef struct TIFFMemory {
  Source source;
  uint64_t position;
  /// True if libtiff wanted bytes behind the end.
  bool isShort;
  /// Gets the warnings, and the first error.
  DecodeText *text;
} TIFFMemory;

/// Opens the file and reads its first directory. Returns NULL if that fails. With the mode `rm`, libtiff calls
/// functions to read, which see if bytes are missing; with `r`, it may read them in place.
TIFF *open_memory(TIFFMemory *memory, const char *mode);

/// Returns the largest block of memory for an image, in bytes.
uint64_t block_limit(const Limits *limits);

/// Returns the status for the error that libtiff has reported. If `tiff` is not NULL, decoding its strips or tiles has
/// failed.
DecodeStatus explain(const TIFFMemory *memory, TIFF *tiff);

typedef struct TIFFImage {
  TIFFMemory memory;
  TIFF *tiff;
  /// libtiff's conversion to RGBA. Its fields describe the samples.
  TIFFRGBAImage reader;
  bool hasReader;
  /// True if the samples are the channels of the pixels, so that nothing converts them.
  bool hasPlainSamples;
  uint32_t channels;
  /// True if the colors are multiplied by alpha.
  bool isPremultiplied;
} TIFFImage;

/// Reads what the header declares, and decides how to decode the pixels.
DecodeStatus read_tiff_header(TIFFImage *self, DecodeHeader *header, DecodeText *text);

/// Returns the size of the ICC profile that fits the pixels, or 0. Sets `bytes`.
uint32_t find_tiff_profile(const TIFFImage *self, const void **bytes, DecodeText *text);

bool is_gray(const TIFFImage *self);

/// Returns the channels of a pixel without alpha.
uint32_t color_count(const TIFFImage *self);

/// Returns the rows that libtiff decodes at once: those of a strip or a tile, because it starts each at its first row.
uint32_t band_rows(const TIFFImage *self);

/// Returns true if strips and tiles have gray or RGB samples of 8 or 16 bits.
bool has_plain_samples(const TIFFImage *self);

/// Decodes the strips or tiles themselves until all rows are complete, or one fails. Returns false if there is no
/// memory.
bool decode_samples(const TIFFImage *self, Target *target);

/// Does the same with libtiff's conversion to RGBA, which knows all kinds of colors.
bool decode_raster(TIFFImage *self, Target *target);

/// The blocks of an image.
typedef struct Blocks {
  const TIFFImage *image;
  bool isTiled;
  /// The size of a block in pixels. The last strip may have fewer rows.
  uint32_t width, height;
  /// The samples of a pixel in a block: 1 if each channel has separate blocks.
  uint32_t samples;
  /// The bytes of a sample.
  uint32_t depth;
} Blocks;

Blocks blocks_of(const TIFFImage *self);

/// Returns the bytes of a row of a block.
size_t row_bytes(const Blocks *blocks);

/// Decodes the block that begins at a pixel, `rows` of it if it is a strip. `plane` is its channel if each channel has
/// separate blocks.
bool read_block(const Blocks *blocks, uint32_t x, uint32_t y, uint32_t rows, uint32_t plane, uint8_t *bytes);

#endif
