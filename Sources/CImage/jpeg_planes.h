// A JPEG picture as the file keeps it: luma, and two planes of chroma.

#ifndef CIMAGE_JPEG_PLANES_H
#define CIMAGE_JPEG_PLANES_H

#include "jpeg_error.h"

/// Finds a place in `room` for each component that libjpeg is about to give, at the size it gives it.
void cimage_lay_out_planes(j_decompress_ptr cinfo, CImageJPEGDecoding options, uint8_t *room,
                           CImagePlane planes[3]);

/// Reads all of them.
void cimage_read_planes(j_decompress_ptr cinfo, const CImagePlane planes[3]);

#endif
