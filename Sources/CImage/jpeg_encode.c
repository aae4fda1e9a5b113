#include "jpeg_error.h"

#include <jerror.h>
#include <string.h>

/// One file on its way into the caller's buffer.
typedef struct Encoder {
  struct jpeg_compress_struct cinfo;
  struct jpeg_destination_mgr destination;
  JPEGErrors errors;
  CImageBitmap bitmap;
  CImageJPEGEncoding options;
} Encoder;

static void nothing(j_compress_ptr cinfo) { (void)cinfo; }

static boolean buffer_full(j_compress_ptr cinfo) {
  cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusLimit, "the buffer for the JPEG file is too small");
}

static void configure(Encoder *encoder) {
  j_compress_ptr cinfo = &encoder->cinfo;
  cinfo->image_width = (JDIMENSION)encoder->bitmap.width;
  cinfo->image_height = (JDIMENSION)encoder->bitmap.height;
  cinfo->input_components = encoder->bitmap.channels;
  cinfo->in_color_space = encoder->bitmap.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(cinfo);
  jpeg_set_quality(cinfo, encoder->options.quality, TRUE);
  cinfo->optimize_coding = TRUE;
  int step = cinfo->num_components == 1 ? 1 : encoder->options.chromaStep;
  cinfo->comp_info[0].h_samp_factor = step;
  cinfo->comp_info[0].v_samp_factor = step;
  if (encoder->options.scans == CImageJPEGScansProgressive) jpeg_simple_progression(cinfo);
}

/// The only frame a jump lands in; everything it needs afterwards lives in `encoder`.
static CImageStatus encode(Encoder *encoder) {
  j_compress_ptr cinfo = &encoder->cinfo;
  if (setjmp(encoder->errors.jump)) return encoder->errors.status;
  jpeg_create_compress(cinfo);
  cinfo->dest = &encoder->destination;
  configure(encoder);
  jpeg_start_compress(cinfo, TRUE);
  while (cinfo->next_scanline < cinfo->image_height) {
    JSAMPROW row = encoder->bitmap.pixels + cinfo->next_scanline * encoder->bitmap.stride;
    jpeg_write_scanlines(cinfo, &row, 1);
  }
  jpeg_finish_compress(cinfo);
  return CImageStatusOK;
}

size_t cimage_encoded_bound(CImageBitmap bitmap) {
  // JPEG: whole 16x16 blocks at two bytes a sample, as TurboJPEG reckons. PNG never needs as much.
  size_t width = ((size_t)bitmap.width + 15) & ~(size_t)15, height = ((size_t)bitmap.height + 15) & ~(size_t)15;
  return width * height * 2 * (size_t)bitmap.channels + 4096;
}

CImageStatus cimage_jpeg_encode(CImageBitmap bitmap, CImageJPEGEncoding options, uint8_t *file, size_t capacity,
                                size_t *written, CImageMessages *messages) {
  Encoder encoder;
  memset(&encoder, 0, sizeof encoder);
  encoder.bitmap = bitmap;
  encoder.options = options;
  encoder.cinfo.err = cimage_jpeg_errors(&encoder.errors, messages);
  encoder.destination.init_destination = nothing;
  encoder.destination.term_destination = nothing;
  encoder.destination.empty_output_buffer = buffer_full;
  encoder.destination.next_output_byte = file;
  encoder.destination.free_in_buffer = capacity;
  CImageStatus status = encode(&encoder);
  *written = capacity - encoder.destination.free_in_buffer;
  jpeg_destroy_compress(&encoder.cinfo);
  return status;
}
