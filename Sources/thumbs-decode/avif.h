// An open AVIF file, and the functions of its parts.

#ifndef AVIF_FILE_H
#define AVIF_FILE_H

#include "formats.h"

#include <avif/avif.h>

/// An open image: the declared size, and the part of it that is shown before the rotation.
typedef struct AVIFFile {
  avifDecoder *decoder;
  Limits limits;
  uint32_t width, height, channels;
  avifCropRect crop;
} AVIFFile;

/// Sets the error of `text` to the reason of libavif, and returns the status.
DecodeStatus avif_fail(avifResult result, const avifDiagnostics *diagnostics, DecodeText *text);

/// Reads the header.
DecodeStatus avif_open(const Source *source, Image *image, DecodeHeader *header, DecodeText *text);

/// Decodes the image.
DecodeStatus avif_decode(Image image, Target *target, DecodeText *text);

/// Returns true if libavif has the encoder that is used.
bool avif_can_encode(void);

/// Encodes a thumbnail.
DecodeStatus avif_encode(Encoding *encoding, DecodeText *text);

#endif
