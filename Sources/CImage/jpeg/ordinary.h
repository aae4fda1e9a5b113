// Decodes ordinary JPEG files, baseline or progressive, without libjpeg and to the same samples.

#ifndef CIMAGE_JPEG_ORDINARY_H
#define CIMAGE_JPEG_ORDINARY_H

#include "baseline.h"
#include "progressive.h"

/// The decoder of one file; both are NULL if libjpeg decodes it.
typedef struct OrdinaryDecoder {
  BaselineDecoder *baseline;
  ProgressiveDecoder *progressive;
} OrdinaryDecoder;

/// Prepares decoding a file of which libjpeg has read only the header. The header must be complete. The file ends at
/// `end`. Changes nothing in `cinfo`. Returns false if the file is unusual in any way, if fewer than `leastBytes` of it
/// are left, if it exceeds a limit, or if memory runs out. The caller closes the decoder.
bool cimage_ordinary_open(OrdinaryDecoder *decoder, j_decompress_ptr cinfo, const uint8_t *end, size_t leastBytes,
                          ScanLimits limits);

/// Decodes the next strip into the memory of `reader`. Returns false if its data is not exactly as it should be. Then
/// libjpeg must decode the file from the start, and its first strips are the same as those from here.
bool cimage_ordinary_read(OrdinaryDecoder *decoder, const PlaneReader *reader);

/// Frees the memory of a decoder, once or several times.
void cimage_ordinary_close(OrdinaryDecoder *decoder);

#endif
