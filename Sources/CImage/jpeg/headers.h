// Reads what precedes the data of a scan of a JPEG file (ITU-T T.81, B.2).

#ifndef CIMAGE_JPEG_HEADERS_H
#define CIMAGE_JPEG_HEADERS_H

#include <stdbool.h>

#include "error.h"

enum { markerDHT = 0xC4, markerRST0 = 0xD0, markerEOI = 0xD9, markerSOS = 0xDA };

/// Returns the next marker other than those inside entropy-coded data: FF00, RST0 to RST7 and fill. NULL at the end.
const uint8_t *cimage_jpeg_next_marker(const uint8_t *bytes, const uint8_t *end);

/// Returns the bytes after the segment of a marker; NULL if the segment is invalid or incomplete.
const uint8_t *cimage_jpeg_after_segment(const uint8_t *marker, const uint8_t *end);

/// The header of a scan.
typedef struct ScanHeader {
  int count;
  /// The components, in the order of the frame, and the numbers of their tables.
  int components[MAX_COMPS_IN_SCAN], dcTables[MAX_COMPS_IN_SCAN], acTables[MAX_COMPS_IN_SCAN];
  /// The first and the last coefficient; the number of their low bits that were missing before the scan, or 0 if no
  /// scan had any bits; and the number of those that are missing after it.
  int first, last, high, low;
} ScanHeader;

/// Reads the header that begins with its length, and is whole. Returns false if it is invalid.
bool cimage_jpeg_read_scan(ScanHeader *header, const struct jpeg_decompress_struct *cinfo, const uint8_t *segment);

/// The tables that files may have of each kind.
typedef struct HuffmanCodes {
  JHUFF_TBL dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];
  bool hasDC[NUM_HUFF_TBLS], hasAC[NUM_HUFF_TBLS];
} HuffmanCodes;

/// Reads the tables of a segment that begins with its length, and is whole. Returns false if they are invalid.
bool cimage_jpeg_read_codes(HuffmanCodes *codes, const uint8_t *segment);

#endif
