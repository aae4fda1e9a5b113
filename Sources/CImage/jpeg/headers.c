#include "headers.h"

#include <string.h>

const uint8_t *cimage_jpeg_next_marker(const uint8_t *bytes, const uint8_t *end) {
  while (bytes < end && (bytes = memchr(bytes, 0xFF, (size_t)(end - bytes))) != NULL && bytes + 1 < end) {
    if (bytes[1] != 0 && bytes[1] != 0xFF && (bytes[1] < markerRST0 || bytes[1] > markerRST0 + 7)) return bytes;
    bytes += bytes[1] == 0xFF ? 1 : 2;
  }
  return NULL;
}

/// Returns the length at the start of a segment.
static size_t length_of(const uint8_t *segment) { return (size_t)segment[0] << 8 | segment[1]; }

const uint8_t *cimage_jpeg_after_segment(const uint8_t *marker, const uint8_t *end) {
  if (end - marker < 4) return NULL;
  size_t length = length_of(marker + 2);
  return length >= 2 && length + 2 <= (size_t)(end - marker) ? marker + 2 + length : NULL;
}

/// Returns the index of the component with this identifier, or -1.
static int component_with(const struct jpeg_decompress_struct *cinfo, int identifier) {
  for (int i = 0; i < cinfo->num_components; i++) {
    if (cinfo->comp_info[i].component_id == identifier) return i;
  }
  return -1;
}

bool cimage_jpeg_read_scan(ScanHeader *header, const struct jpeg_decompress_struct *cinfo, const uint8_t *segment) {
  size_t length = length_of(segment);
  if (length < 8 || segment[2] > MAX_COMPS_IN_SCAN || length != 6 + 2 * (size_t)segment[2]) return false;
  header->count = segment[2];
  int previous = -1;
  for (int i = 0; i < header->count; i++) {
    const uint8_t *entry = segment + 3 + 2 * i;
    header->components[i] = component_with(cinfo, entry[0]);
    header->dcTables[i] = entry[1] >> 4;
    header->acTables[i] = entry[1] & 15;
    if (header->components[i] <= previous) return false;
    previous = header->components[i];
  }
  const uint8_t *band = segment + 3 + 2 * header->count;
  header->first = band[0];
  header->last = band[1];
  header->high = band[2] >> 4;
  header->low = band[2] & 15;
  return true;
}

bool cimage_jpeg_read_codes(HuffmanCodes *codes, const uint8_t *segment) {
  const uint8_t *end = segment + length_of(segment);
  segment += 2;
  while (end - segment >= 17) {
    int number = segment[0] & 15;
    bool isAC = segment[0] >> 4 & 1;
    if (segment[0] > 0x1F || number >= NUM_HUFF_TBLS) return false;
    JHUFF_TBL *table = isAC ? &codes->ac[number] : &codes->dc[number];
    size_t count = 0;
    memset(table, 0, sizeof *table);
    for (int length = 1; length <= 16; length++) count += table->bits[length] = segment[length];
    segment += 17;
    if (count > 256 || count > (size_t)(end - segment)) return false;
    memcpy(table->huffval, segment, count);
    (isAC ? codes->hasAC : codes->hasDC)[number] = true;
    segment += count;
  }
  return segment == end;
}
