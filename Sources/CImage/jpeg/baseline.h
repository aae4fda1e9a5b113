// Decodes ordinary baseline JPEG files without the Huffman decoder and the inverse DCT of libjpeg, in two thirds of
// their time and to the same samples.

#ifndef CIMAGE_JPEG_BASELINE_H
#define CIMAGE_JPEG_BASELINE_H

#include <stdbool.h>

#include "planes.h"

typedef struct BaselineDecoder BaselineDecoder;

/// Prepares decoding a file with 8-bit Huffman codes, of which the header is read. Returns NULL if the file is unusual
/// in another way, or if memory runs out. The caller frees the decoder.
BaselineDecoder *cimage_baseline_open(j_decompress_ptr cinfo);

/// Decodes the next strip into the memory of `reader`. Returns false if its data is not exactly as it should be.
bool cimage_baseline_read(BaselineDecoder *decoder, const PlaneReader *reader);

#endif
