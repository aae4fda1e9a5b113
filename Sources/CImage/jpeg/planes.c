#include "planes.h"

#include <math.h>
#include <stdbool.h>

/// Returns the number of samples, each `step` pixels apart, that show `size` pixels. If blocks are shrunk to `samples`
/// per side, the last sample may include the encoder's padding; it is then left out, unless it is the only one.
static int32_t sample_count(int32_t size, double step, int samples) {
  double count = size / step;
  if (samples == DCTSIZE) return (int32_t)ceil(count);
  return count >= 1 ? (int32_t)count : 1;
}

/// Returns the number of pixels from one sample to the next, for a component with the sampling factor `factor`.
static double step_of(int largest, int factor, int samples) {
  return (double)largest * DCTSIZE / (factor * samples);
}

size_t cimage_plane_reader_init(PlaneReader *reader, j_decompress_ptr cinfo, CImageJPEGDecoding options) {
  size_t total = 0, across = (size_t)(cinfo->max_h_samp_factor * DCTSIZE);
  size_t mcus = (cinfo->image_width + across - 1) / across;
  reader->count = 0;
  reader->planeCount = cinfo->num_components;
  for (int i = 0; i < reader->planeCount; i++) {
    const jpeg_component_info *component = &cinfo->comp_info[i];
    int columns = SAMPLES_ACROSS(component), rows = SAMPLES_DOWN(component);
    double stepAcross = step_of(cinfo->max_h_samp_factor, component->h_samp_factor, columns);
    double stepDown = step_of(cinfo->max_v_samp_factor, component->v_samp_factor, rows);
    reader->planes[i] = (CImagePlane){.width = sample_count(options.width, stepAcross, columns),
                                      .height = sample_count(options.height, stepDown, rows),
                                      .stepAcross = stepAcross,
                                      .stepDown = stepDown};
    reader->stripRows[i] = (size_t)(component->v_samp_factor * rows);
    reader->strips[i] = (CImageBitmap){.width = reader->planes[i].width,
                                       .channels = 1,
                                       .stride = mcus * (size_t)(component->h_samp_factor * columns)};
    total += reader->strips[i].stride * reader->stripRows[i];
  }
  return total;
}

/// Finds the rows of the next strip that are not padding. If none of them is needed, libjpeg does not compute them.
static void choose_rows(PlaneReader *reader, int plane, jpeg_component_info *component) {
  int64_t most = (int64_t)reader->stripRows[plane], first = (int64_t)reader->count * most;
  int64_t left = reader->planes[plane].height - first;
  int32_t count = (int32_t)(left < 0 ? 0 : left < most ? left : most);
  bool isNeeded = first < reader->needed[plane].bottom && first + most > reader->needed[plane].top;
  component->component_needed = isNeeded;
  reader->strips[plane].height = isNeeded ? count : 0;
  reader->skipped[plane] = isNeeded ? 0 : count;
}

void cimage_plane_reader_advance(PlaneReader *reader, j_decompress_ptr cinfo, uint8_t *memory) {
  for (int i = 0; i < reader->planeCount; i++) {
    reader->strips[i].pixels = memory;
    memory += reader->strips[i].stride * reader->stripRows[i];
    choose_rows(reader, i, &cinfo->comp_info[i]);
  }
  reader->count += 1;
}

void cimage_plane_reader_read(const PlaneReader *reader, j_decompress_ptr cinfo) {
  JSAMPROW rows[3][MAX_SAMP_FACTOR * DCTSIZE];
  JSAMPARRAY strip[3] = {rows[0], rows[1], rows[2]};
  for (int i = 0; i < reader->planeCount; i++) {
    const CImageBitmap *plane = &reader->strips[i];
    for (size_t row = 0; row < reader->stripRows[i]; row++) rows[i][row] = plane->pixels + row * plane->stride;
  }
  jpeg_read_raw_data(cinfo, strip, (JDIMENSION)(cinfo->max_v_samp_factor * LEAST_SAMPLES_DOWN(cinfo)));
}
