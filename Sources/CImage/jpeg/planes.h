// Reads a JPEG image as luma and two chroma planes, as the file stores it.

#ifndef CIMAGE_JPEG_PLANES_H
#define CIMAGE_JPEG_PLANES_H

#include "error.h"

/// Places a plane in `room` for each component, at the size at which libjpeg outputs it.
void cimage_lay_out_planes(j_decompress_ptr cinfo, CImageJPEGDecoding options, uint8_t *room,
                           CImagePlane planes[3]);

/// Reads all planes.
void cimage_read_planes(j_decompress_ptr cinfo, const CImagePlane planes[3]);

#endif
