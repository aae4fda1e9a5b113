// An open HEIC file, and the functions of its parts.

#ifndef HEIC_FILE_H
#define HEIC_FILE_H

#include "formats.h"

#include <libheif/heif.h>

/// An open image.
typedef struct HEICFile {
  struct heif_context *context;
  struct heif_image_handle *handle;
} HEICFile;

/// Returns true if the file ends within a box. For libheif, the file then lacks that box.
bool heic_is_cut(const Source *source);

/// Sets the error of `text` to the message of libheif, and returns the status.
DecodeStatus heic_fail(struct heif_error error, DecodeText *text);

/// Reads the header.
DecodeStatus heic_open(const Source *source, Image *image, DecodeHeader *header, DecodeText *text);

/// Decodes the image.
DecodeStatus heic_decode(Image image, Target *target, DecodeText *text);

#endif
