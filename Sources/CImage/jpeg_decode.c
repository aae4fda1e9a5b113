#include <stdlib.h>
#include <string.h>

#include "icc.h"
#include "jpeg_error.h"
#include "jpeg_planes.h"
#include "jpeg_scans.h"
#include "messages.h"

/// Blocks that the scans of a file may pass: so many times all it has, as many as a long script of an encoder takes;
/// and for small pictures so many in any case. A scan can pass millions of blocks in a few bytes.
enum { maxPasses = 32, minBlocks = 2 << 20 };

/// One file on its way into the caller's bitmap. Lives outside the frame that jumps land in.
typedef struct Decoder {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_progress_mgr progress;
  JPEGErrors errors;
  ScanSource scans;
  const uint8_t *bytes;
  size_t count;
  CImageJPEGDecoding options;
  /// What to fill: pixels, or where these are not wanted three planes that lie in `room`.
  CImageBitmap bitmap;
  CImagePlane *planes;
  uint8_t *room;
  /// One row of CMYK samples.
  uint8_t *ink;
  /// The components that at least one scan holds, one bit each.
  unsigned seen;
  /// The scan that was begun last, and the blocks that all scans so far pass.
  int scan;
  uint64_t passedBlocks;
  /// Some scans are not decoded, because the pixels do not depend on them.
  bool leavesOut;
  /// All rows are read: what is wrong from here on does not concern the picture.
  bool complete;
} Decoder;

static uint64_t block_count(const jpeg_component_info *component) {
  return (uint64_t)component->width_in_blocks * component->height_in_blocks;
}

/// Counts the blocks of a scan that begins, and fails where the file has had more than enough.
static void count_blocks(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  uint64_t all = 0;
  for (int i = 0; i < cinfo->num_components; i++) all += block_count(&cinfo->comp_info[i]);
  for (int i = 0; i < cinfo->comps_in_scan; i++) self->passedBlocks += block_count(cinfo->cur_comp_info[i]);
  if (self->passedBlocks > minBlocks && self->passedBlocks > maxPasses * all) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusLimit, "the JPEG file's scans pass too many blocks");
  }
}

/// Called by libjpeg before it reads the next piece of a file with several scans.
static void watch_scans(j_common_ptr common) {
  j_decompress_ptr cinfo = (j_decompress_ptr)common;
  Decoder *self = cinfo->client_data;
  if (cinfo->input_scan_number > self->options.maxScans) {
    cimage_jpeg_fail(common, CImageStatusLimit, "the JPEG file has too many scans");
  }
  if (cinfo->input_scan_number != self->scan) {
    self->scan = cinfo->input_scan_number;
    count_blocks(self);
  }
  for (int i = 0; i < cinfo->comps_in_scan; i++) self->seen |= 1u << cinfo->cur_comp_info[i]->component_index;
}

static void read_header(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  jpeg_create_decompress(cinfo);
  cinfo->client_data = self;
  cinfo->mem->max_memory_to_use = (long)self->options.maxMemory;
  self->progress.progress_monitor = watch_scans;
  cinfo->progress = &self->progress;
  jpeg_mem_src(cinfo, self->bytes, self->count);
  jpeg_read_header(cinfo, TRUE);
}

static void choose_pixels(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  switch (cinfo->num_components) {
    case 1: cinfo->out_color_space = JCS_GRAYSCALE; break;
    case 4: cinfo->out_color_space = JCS_CMYK; break;
    default: cinfo->out_color_space = JCS_RGB; break;
  }
  if ((cinfo->num_components == 1) != (self->bitmap.channels == 1)) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusCorrupt, "the JPEG file has two headers that differ");
  }
}

static void choose_planes(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  if (cinfo->jpeg_color_space != JCS_YCbCr || cinfo->num_components != 3) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusUnsupported, "the JPEG file's colours are not luma and chroma");
  }
  cinfo->out_color_space = JCS_YCbCr;
  cinfo->raw_data_out = TRUE;
}

/// Chooses the output, and refuses what differs from the header the caller saw.
static void choose_output(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  if (cinfo->image_width != (JDIMENSION)self->options.width ||
      cinfo->image_height != (JDIMENSION)self->options.height) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusCorrupt, "the JPEG file has two headers that differ");
  }
  if (self->planes != NULL) {
    choose_planes(self);
  } else {
    choose_pixels(self);
  }
  cinfo->scale_num = 1;
  cinfo->scale_denom = (unsigned)self->options.shrink;
  jpeg_calc_output_dimensions(cinfo);
}

/// Ideal inks: each takes away its own part of the light. Samples are inverted, so 255 is no ink.
static void ideal_inks(const uint8_t *ink, uint8_t *rgb, size_t count) {
  for (size_t x = 0; x < count; x++) {
    for (int channel = 0; channel < 3; channel++) {
      rgb[3 * x + channel] = (uint8_t)((ink[4 * x + channel] * ink[4 * x + 3] + 127) / 255);
    }
  }
}

static void read_rows(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  while (cinfo->output_scanline < cinfo->output_height) {
    uint8_t *row = self->bitmap.pixels + cinfo->output_scanline * self->bitmap.stride;
    if (self->ink == NULL) {
      jpeg_read_scanlines(cinfo, &row, 1);
      continue;
    }
    jpeg_read_scanlines(cinfo, &self->ink, 1);
    if (self->options.cmyk != NULL) {
      cimage_transform_row(self->options.cmyk, self->ink, row, cinfo->output_width);
    } else {
      ideal_inks(self->ink, row, cinfo->output_width);
    }
  }
}

/// Whether scans are missing that a file cut short would have had.
static bool lacks_scans(const Decoder *self) {
  const struct jpeg_decompress_struct *cinfo = &self->cinfo;
  if (!jpeg_has_multiple_scans((j_decompress_ptr)cinfo)) return false;
  if (self->seen != (1u << cinfo->num_components) - 1) return true;
  // Only of a file with its end mark are scans left out: it is not cut short.
  if (!cinfo->progressive_mode || self->leavesOut) return false;
  for (int component = 0; component < cinfo->num_components; component++) {
    for (int coefficient = 0; coefficient < DCTSIZE2; coefficient++) {
      // -1: never sent. Above 0: that many low bits are still to come.
      if (cinfo->coef_bits[component][coefficient] != 0) return true;
    }
  }
  return false;
}

static void judge_damage(Decoder *self) {
  j_common_ptr cinfo = (j_common_ptr)&self->cinfo;
  // Arithmetic decoding reads zeros where there is nothing more, and cannot tell whether they were meant.
  bool vague = self->cinfo.arith_code;
  bool cutShort = self->errors.reachedEnd && (self->errors.damaged || vague || lacks_scans(self));
  if (cutShort) cimage_jpeg_fail(cinfo, CImageStatusTruncated, "the JPEG file ends before its picture does");
  if (self->errors.damaged) cimage_jpeg_fail(cinfo, CImageStatusCorrupt, "the JPEG file's picture data is damaged");
}

/// The only frame a jump lands in; everything it needs afterwards lives in `self`.
static CImageStatus decode(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  if (setjmp(self->errors.jump)) {
    if (!self->complete) return self->errors.status;
    cimage_add_warning(self->errors.messages, self->errors.messages->error);
    return CImageStatusOK;
  }
  read_header(self);
  choose_output(self);
  self->leavesOut = cimage_leave_out_scans(&self->scans, cinfo, self->options.maxScans);
  jpeg_start_decompress(cinfo);
  if (cinfo->num_components == 4) {
    self->ink = malloc((size_t)cinfo->output_width * 4);
    if (self->ink == NULL) cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusOutOfMemory, "out of memory");
  }
  if (self->planes != NULL) {
    cimage_lay_out_planes(cinfo, self->options, self->room, self->planes);
    cimage_read_planes(cinfo, self->planes);
  } else {
    read_rows(self);
  }
  judge_damage(self);
  self->complete = true;
  jpeg_finish_decompress(cinfo);
  return CImageStatusOK;
}

/// Decodes into what `self` names.
static CImageStatus decode_file(Decoder *self, const uint8_t *bytes, size_t count, CImageJPEGDecoding options,
                                CImageMessages *messages) {
  self->cinfo.err = cimage_jpeg_errors(&self->errors, messages);
  self->bytes = bytes + options.start;
  self->count = count - options.start;
  self->options = options;
  CImageStatus status = decode(self);
  jpeg_destroy_decompress(&self->cinfo);
  free(self->ink);
  return status;
}

CImageStatus cimage_jpeg_decode(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, CImageBitmap bitmap,
                                CImageMessages *messages) {
  Decoder self;
  memset(&self, 0, sizeof self);
  self.bitmap = bitmap;
  return decode_file(&self, bytes, count, options, messages);
}

CImageStatus cimage_jpeg_decode_planes(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, uint8_t *room,
                                       CImagePlane planes[3], CImageMessages *messages) {
  Decoder self;
  memset(&self, 0, sizeof self);
  self.planes = planes;
  self.room = room;
  return decode_file(&self, bytes, count, options, messages);
}
