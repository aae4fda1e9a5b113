#include "planes.h"

#include <math.h>

/// Returns the number of rows that libjpeg writes, in whole blocks.
static size_t written_rows(const jpeg_component_info *component) {
  return (size_t)component->height_in_blocks * (size_t)SAMPLES_DOWN(component);
}

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

size_t cimage_jpeg_planes_bound(CImageJPEGDecoding options) {
  // No plane has a higher resolution than the image divided by `shrink`; each ends with a whole block.
  size_t shrink = (size_t)options.shrink;
  return 3 * ((size_t)options.width / shrink + 2 * DCTSIZE) * ((size_t)options.height / shrink + 2 * DCTSIZE);
}

void cimage_lay_out_planes(j_decompress_ptr cinfo, CImageJPEGDecoding options, uint8_t *room,
                           CImagePlane planes[3]) {
  size_t taken = 0;
  for (int i = 0; i < 3; i++) {
    const jpeg_component_info *component = &cinfo->comp_info[i];
    int columns = SAMPLES_ACROSS(component), rows = SAMPLES_DOWN(component);
    double across = step_of(cinfo->max_h_samp_factor, component->h_samp_factor, columns);
    double down = step_of(cinfo->max_v_samp_factor, component->v_samp_factor, rows);
    planes[i] = (CImagePlane){.samples = {.pixels = room + taken,
                                          .width = sample_count(options.width, across, columns),
                                          .height = sample_count(options.height, down, rows),
                                          .channels = 1,
                                          .stride = (size_t)component->width_in_blocks * (size_t)columns},
                              .stepAcross = across,
                              .stepDown = down};
    taken += planes[i].samples.stride * written_rows(component);
  }
  if (taken > cimage_jpeg_planes_bound(options)) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusLimit, "the JPEG file's planes are too large");
  }
}

void cimage_read_planes(j_decompress_ptr cinfo, const CImagePlane planes[3]) {
  JSAMPROW rows[3][MAX_SAMP_FACTOR * DCTSIZE];
  JSAMPARRAY strip[3] = {rows[0], rows[1], rows[2]};
  // One row of MCUs, the interleaved blocks of all planes, at a time.
  for (size_t number = 0; cinfo->output_scanline < cinfo->output_height; number++) {
    for (int i = 0; i < 3; i++) {
      const jpeg_component_info *component = &cinfo->comp_info[i];
      size_t count = (size_t)(component->v_samp_factor * SAMPLES_DOWN(component));
      size_t last = written_rows(component) - 1;
      for (size_t row = 0; row < count; row++) {
        size_t y = number * count + row;
        // Padding rows of the last strip all go to the last row.
        rows[i][row] = planes[i].samples.pixels + (y < last ? y : last) * planes[i].samples.stride;
      }
    }
    jpeg_read_raw_data(cinfo, strip, (JDIMENSION)(cinfo->max_v_samp_factor * LEAST_SAMPLES_DOWN(cinfo)));
  }
}
