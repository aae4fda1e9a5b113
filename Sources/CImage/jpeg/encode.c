#include "error.h"

#include <stdlib.h>
#include <string.h>

/// The state of encoding one file into the caller's buffer. Lives in the frame above the one that calls setjmp.
typedef struct Encoder {
  struct jpeg_compress_struct cinfo;
  struct jpeg_destination_mgr destination;
  JPEGErrors errors;
  /// The pixels, or an array of three planes.
  const CImageBitmap *bitmap;
  bool isPlanar;
  CImageJPEGEncoding options;
  /// Rows of planes, padded to whole blocks.
  uint8_t *strip;
} Encoder;

static void nothing(j_compress_ptr cinfo) { (void)cinfo; }

static boolean buffer_full(j_compress_ptr cinfo) {
  cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusLimit, "the buffer for the JPEG file is too small");
}

static void configure(Encoder *encoder) {
  j_compress_ptr cinfo = &encoder->cinfo;
  cinfo->image_width = (JDIMENSION)encoder->bitmap->width;
  cinfo->image_height = (JDIMENSION)encoder->bitmap->height;
  cinfo->input_components = encoder->isPlanar ? 3 : encoder->bitmap->channels;
  cinfo->in_color_space = encoder->isPlanar ? JCS_YCbCr : cinfo->input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(cinfo);
  cinfo->raw_data_in = encoder->isPlanar;
  jpeg_set_quality(cinfo, encoder->options.quality, TRUE);
  cinfo->optimize_coding = TRUE;
  int step = cinfo->num_components == 1 ? 1 : encoder->options.chromaStep;
  cinfo->comp_info[0].h_samp_factor = step;
  cinfo->comp_info[0].v_samp_factor = step;
  if (encoder->options.scans == CImageJPEGScansProgressive) jpeg_simple_progression(cinfo);
}

static void write_rows(Encoder *encoder) {
  j_compress_ptr cinfo = &encoder->cinfo;
  while (cinfo->next_scanline < cinfo->image_height) {
    JSAMPROW row = encoder->bitmap->pixels + cinfo->next_scanline * encoder->bitmap->stride;
    jpeg_write_scanlines(cinfo, &row, 1);
  }
}

/// Copies one row of a plane and repeats its last sample up to `width`. Rows past the last one repeat that row.
static void pad_row(CImageBitmap plane, size_t y, uint8_t *row, size_t width) {
  size_t last = (size_t)plane.height - 1, count = (size_t)plane.width;
  const uint8_t *samples = plane.pixels + (y < last ? y : last) * plane.stride;
  memcpy(row, samples, count);
  memset(row + count, samples[count - 1], width - count);
}

/// Writes one row of MCUs, the interleaved blocks of all planes, at a time.
static void write_planes(Encoder *encoder) {
  j_compress_ptr cinfo = &encoder->cinfo;
  JSAMPROW rows[3][2 * DCTSIZE];
  JSAMPARRAY strip[3] = {rows[0], rows[1], rows[2]};
  size_t widest = (size_t)cinfo->comp_info[0].width_in_blocks * DCTSIZE;
  encoder->strip = malloc(3 * 2 * DCTSIZE * widest);
  if (encoder->strip == NULL) cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusOutOfMemory, "out of memory");
  for (size_t number = 0; cinfo->next_scanline < cinfo->image_height; number++) {
    for (int i = 0; i < 3; i++) {
      const jpeg_component_info *component = &cinfo->comp_info[i];
      size_t count = (size_t)component->v_samp_factor * DCTSIZE;
      for (size_t row = 0; row < count; row++) {
        rows[i][row] = encoder->strip + ((size_t)i * 2 * DCTSIZE + row) * widest;
        pad_row(encoder->bitmap[i], number * count + row, rows[i][row], (size_t)component->width_in_blocks * DCTSIZE);
      }
    }
    jpeg_write_raw_data(cinfo, strip, (JDIMENSION)cinfo->max_v_samp_factor * DCTSIZE);
  }
}

/// Encodes the file in the frame that error jumps return to. After longjmp, locals of this function that were modified
/// after setjmp are indeterminate (C11, 7.13.2.1), so everything needed afterward is in `encoder`, which lives in a
/// caller's frame.
static CImageStatus encode(Encoder *encoder) {
  j_compress_ptr cinfo = &encoder->cinfo;
  if (setjmp(encoder->errors.jump)) return encoder->errors.status;
  jpeg_create_compress(cinfo);
  cinfo->dest = &encoder->destination;
  configure(encoder);
  jpeg_start_compress(cinfo, TRUE);
  if (encoder->isPlanar) {
    write_planes(encoder);
  } else {
    write_rows(encoder);
  }
  jpeg_finish_compress(cinfo);
  return CImageStatusOK;
}

size_t cimage_encoded_bound(CImageBitmap bitmap) {
  // JPEG: whole 16x16 MCUs at two bytes per sample, as TurboJPEG computes it. PNG never needs as much.
  size_t width = ((size_t)bitmap.width + 15) & ~(size_t)15, height = ((size_t)bitmap.height + 15) & ~(size_t)15;
  return width * height * 2 * (size_t)bitmap.channels + 4096;
}

/// Encodes the bitmap or planes of `encoder`, and frees everything.
static CImageStatus encode_file(Encoder *encoder, CImageJPEGEncoding options, uint8_t *file, size_t capacity,
                                size_t *written, CImageMessages *messages) {
  encoder->options = options;
  encoder->cinfo.err = cimage_jpeg_errors(&encoder->errors, messages);
  encoder->destination.init_destination = nothing;
  encoder->destination.term_destination = nothing;
  encoder->destination.empty_output_buffer = buffer_full;
  encoder->destination.next_output_byte = file;
  encoder->destination.free_in_buffer = capacity;
  CImageStatus status = encode(encoder);
  *written = capacity - encoder->destination.free_in_buffer;
  jpeg_destroy_compress(&encoder->cinfo);
  free(encoder->strip);
  return status;
}

CImageStatus cimage_jpeg_encode(CImageBitmap bitmap, CImageJPEGEncoding options, uint8_t *file, size_t capacity,
                                size_t *written, CImageMessages *messages) {
  Encoder encoder;
  memset(&encoder, 0, sizeof encoder);
  encoder.bitmap = &bitmap;
  return encode_file(&encoder, options, file, capacity, written, messages);
}

CImageStatus cimage_jpeg_encode_planes(const CImageBitmap planes[3], CImageJPEGEncoding options, uint8_t *file,
                                       size_t capacity, size_t *written, CImageMessages *messages) {
  Encoder encoder;
  memset(&encoder, 0, sizeof encoder);
  encoder.bitmap = planes;
  encoder.isPlanar = true;
  return encode_file(&encoder, options, file, capacity, written, messages);
}
