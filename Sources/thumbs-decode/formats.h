// The formats, each NULL if its library was absent when this program was built. PSD needs none.

#ifndef FORMATS_H
#define FORMATS_H

#include <CDecoder.h>

extern const Format *const decode_avif, *const decode_heic, *const decode_jpeg2000, *const decode_jpegxl;
extern const Format *const decode_svg, *const decode_tiff, *const decode_psd, *const decode_raw;

#endif
