// Skips the scans of a progressive JPEG file that a shrunk image does not depend on.

#ifndef CIMAGE_JPEG_SCANS_H
#define CIMAGE_JPEG_SCANS_H

#include <stdbool.h>

#include "CImage.h"
#include <stdio.h>
#include <jpeglib.h>

/// A source manager that feeds libjpeg the rest of a file in memory, without the skipped scans.
typedef struct ScanSource {
  struct jpeg_source_mgr manager;  // First, so that libjpeg's pointer to it is a pointer to this.
  /// The original callback, called at the end of the bytes.
  boolean (*atEnd)(j_decompress_ptr);
  /// The position from which to search for the next piece (NULL after the last one), and the end of the file.
  const uint8_t *next, *end;
} ScanSource;

/// Makes `cinfo` skip scans that do not affect the output: all AC scans of components whose blocks become one sample
/// each. The decoded image is the same to the last bit.
///
/// Call it after reading the header of a file in memory and before decoding starts. Returns false and changes nothing
/// if no scan can be skipped, or if the file is truncated or has more than `maxScans`, which the decoder reports.
/// `source` must live as long as `cinfo`.
bool cimage_leave_out_scans(ScanSource *source, j_decompress_ptr cinfo, int maxScans);

#endif
