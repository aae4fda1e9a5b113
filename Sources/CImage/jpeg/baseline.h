// Decodes the planes of ordinary baseline JPEG files without the Huffman decoder and the inverse DCT of libjpeg, in two
// thirds of their time and to the same samples.

#ifndef CIMAGE_JPEG_BASELINE_H
#define CIMAGE_JPEG_BASELINE_H

#include <stdbool.h>

#include "planes.h"

typedef struct BaselineDecoder BaselineDecoder;

/// Prepares decoding a file after `jpeg_start_decompress`, and changes nothing in `cinfo`. Returns NULL if the file is
/// unusual in any way, if fewer than `leastBytes` are left, or if memory runs out; then libjpeg decodes it. The caller
/// frees the decoder.
BaselineDecoder *cimage_baseline_open(j_decompress_ptr cinfo, size_t leastBytes);

/// Decodes the next strip into the memory of `reader`. Returns false if its data is not exactly as it should be. Then
/// libjpeg must decode the file from the start. Its strips before this one are the same.
bool cimage_baseline_read(BaselineDecoder *decoder, const PlaneReader *reader);

#endif
