// Decodes ordinary progressive JPEG files without libjpeg, in 0.6 of its time and to the same samples.

#ifndef CIMAGE_JPEG_PROGRESSIVE_H
#define CIMAGE_JPEG_PROGRESSIVE_H

#include <stdbool.h>

#include "planes.h"

typedef struct ProgressiveDecoder ProgressiveDecoder;

/// The limits on the scans of a file.
typedef struct ScanLimits {
  /// The most bytes of all coefficients.
  size_t maxMemory;
  int maxScans;
  /// True if the AC coefficients of components whose blocks become one sample each are skipped, valid or not.
  bool leavesOut;
} ScanLimits;

/// Reads all scans of a file with 8-bit Huffman codes that ends at `end` and of which the header is read. Returns NULL
/// if the file is unusual in another way, exceeds a limit, or if memory runs out. The caller closes the decoder.
ProgressiveDecoder *cimage_progressive_open(j_decompress_ptr cinfo, const uint8_t *end, ScanLimits limits);

/// Decodes the next strip into the memory of `reader`. Returns false if coefficients are too large.
bool cimage_progressive_read(ProgressiveDecoder *decoder, const PlaneReader *reader);

/// Frees a decoder; NULL is ignored.
void cimage_progressive_close(ProgressiveDecoder *decoder);

#endif
