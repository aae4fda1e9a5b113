#include "scans.h"

#include "headers.h"

/// Returns true if a marker begins a scan that does not affect the output: AC coefficients of a component whose blocks
/// become one sample each. A scan of AC coefficients has one component (ITU-T T.81, G.1.1.1.1). `marker[4]` is the
/// number of components, `marker[5]` the component, `marker[7]` the first coefficient.
static bool is_idle(j_decompress_ptr cinfo, const uint8_t *marker, const uint8_t *end) {
  if (marker[1] != markerSOS || end - marker < 10 || marker[4] != 1 || marker[7] == 0) return false;
  for (int i = 0; i < cinfo->num_components; i++) {
    const jpeg_component_info *component = &cinfo->comp_info[i];
    if (component->component_id == marker[5]) return SAMPLES_ACROSS(component) == 1 && SAMPLES_DOWN(component) == 1;
  }
  return false;
}

/// Returns the marker after the segment at `marker` and its entropy-coded data, if any.
static const uint8_t *following(const uint8_t *marker, const uint8_t *end) {
  const uint8_t *bytes = cimage_jpeg_after_segment(marker, end);
  return bytes != NULL ? cimage_jpeg_next_marker(bytes, end) : NULL;
}

/// Gives libjpeg the bytes from the next scan that is not idle to the idle scan after it.
static boolean next_piece(j_decompress_ptr cinfo) {
  ScanSource *self = (ScanSource *)cinfo->src;
  const uint8_t *start = self->next;
  while (start != NULL && is_idle(cinfo, start, self->end)) start = following(start, self->end);
  const uint8_t *stop = start;
  while (stop != NULL && stop[1] != markerEOI && !is_idle(cinfo, stop, self->end)) stop = following(stop, self->end);
  if (start == NULL) return self->atEnd(cinfo);
  // The decoder ignores bytes after the end marker.
  bool isLast = stop == NULL || stop[1] == markerEOI;
  self->next = isLast ? NULL : stop;
  self->manager.next_input_byte = start;
  self->manager.bytes_in_buffer = (size_t)((isLast ? self->end : stop) - start);
  return TRUE;
}

/// Returns true if the file is complete, has at most `maxScans` scans, and some of them are idle.
static bool is_worth_while(j_decompress_ptr cinfo, const uint8_t *first, const uint8_t *end, int maxScans) {
  int scans = 1, idle = 0;
  const uint8_t *marker = first;
  for (; marker != NULL && marker[1] != markerEOI; marker = following(marker, end)) {
    if (marker[1] == markerSOS && ++scans > maxScans) return false;
    idle += is_idle(cinfo, marker, end);
  }
  return marker != NULL && idle > 0;
}

bool cimage_leave_out_scans(ScanSource *source, j_decompress_ptr cinfo, int maxScans) {
  const uint8_t *rest = cinfo->src->next_input_byte, *end = rest + cinfo->src->bytes_in_buffer;
  if (!cinfo->progressive_mode) return false;
  // The header of the first scan is read; its data comes next.
  const uint8_t *marker = cimage_jpeg_next_marker(rest, end);
  if (!is_worth_while(cinfo, marker, end, maxScans)) return false;
  source->manager = *cinfo->src;
  source->atEnd = cinfo->src->fill_input_buffer;
  source->manager.fill_input_buffer = next_piece;
  source->manager.bytes_in_buffer = (size_t)(marker - rest);
  source->next = marker;
  source->end = end;
  cinfo->src = &source->manager;
  // Block smoothing would estimate the skipped coefficients.
  cinfo->do_block_smoothing = FALSE;
  return true;
}
