// The encoding that still images and animations have in common.

#ifndef CIMAGE_WEBP_ENCODING_H
#define CIMAGE_WEBP_ENCODING_H

#include <stddef.h>
#include <webp/encode.h>

#include "CImage.h"

/// The size of the chunk VP8X with its header (RFC 9649, section 2.7).
enum { cimageExtendedBytes = 18 };

/// Sets the options of libwebp. Returns 0 if it is incompatible with its headers.
int cimage_webp_configure(WebPConfig *config, CImageWebPEncoding options);

/// Copies a bitmap to an image of the same size.
void cimage_webp_copy_pixels(CImageBitmap bitmap, WebPPicture *picture);

/// Moves the file of `count` bytes, which is `cimageExtendedBytes` behind the start of the buffer, to the start. If it
/// has no chunk VP8X, adds one in between, for an image of this size. Returns the number of bytes.
size_t cimage_webp_extend(uint8_t *bytes, size_t count, int32_t width, int32_t height);

#endif
