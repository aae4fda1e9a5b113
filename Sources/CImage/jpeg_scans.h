// Scans of a progressive JPEG file that its small picture does not depend on.

#ifndef CIMAGE_JPEG_SCANS_H
#define CIMAGE_JPEG_SCANS_H

#include <stdbool.h>

#include "CImage.h"
#include <stdio.h>
#include <jpeglib.h>

/// Feeds libjpeg the rest of a file without some of its scans, as they stand in memory.
typedef struct ScanSource {
  struct jpeg_source_mgr manager;  // First, so that libjpeg's pointer to it is a pointer to this.
  /// What comes when this has nothing more: the end of the bytes, as libjpeg sees it.
  boolean (*atEnd)(j_decompress_ptr);
  /// Where the next piece is searched, and where the file ends.
  const uint8_t *next, *end;
} ScanSource;

/// Makes `cinfo` skip the scans that matter neither for its output size nor for anything else: of a component whose
/// blocks become one pixel each, all but the DC coefficients. The picture is the same to the last bit.
///
/// To be called between the header and the start of decoding, of a file in memory. Returns false, and changes nothing,
/// where no scan can be left out, or where the file is cut off or has more than `maxScans`: that is for the decoder
/// to find. `source` must live as long as `cinfo`.
bool cimage_leave_out_scans(ScanSource *source, j_decompress_ptr cinfo, int maxScans);

#endif
