// Decodes the image data of ordinary PNG files without libpng, in a third of its time.

#ifndef CIMAGE_PNG_PLAIN_H
#define CIMAGE_PNG_PLAIN_H

#include <stdbool.h>

#include "CImage.h"
#include "expand.h"
#include "unfilter.h"

/// The decompressed image data of a file.
typedef struct PlainData {
  FilteredRows rows;
  Expansion expansion;
  /// True if the pixels are blue, green and red, and their alpha, if there is one, is premultiplied.
  bool isSwapped;
} PlainData;

/// Decompresses the image data of a file without interlacing and with at most 8 bits per sample, whose header
/// `png_read_info` has read. `chunks` begins with the first chunk of image data.
///
/// Returns false, and allocates nothing, if the file is damaged or unusual in any way, or if memory runs out; then
/// libpng decodes it, unless the file is Apple's. The caller frees `data->rows.bytes`.
bool cimage_plain_open(PlainData *data, png_structp png, png_infop info, const uint8_t *chunks, size_t count,
                       int channels, bool isApple);

/// Passes all rows to `sink`. Returns the first status other than OK.
CImageStatus cimage_plain_read(PlainData *data, CImageRowSink sink);

#endif
