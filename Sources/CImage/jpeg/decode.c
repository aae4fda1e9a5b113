#include <stdlib.h>
#include <string.h>

#include "../icc.h"
#include "../messages.h"
#include "../strips.h"
#include "error.h"
#include "ordinary.h"
#include "scans.h"

/// Limits on the blocks that all scans of a file visit: `maxPasses` times the blocks of the image, which is enough for
/// long scan scripts, but never fewer than `minBlocks`. Without a limit, a few bytes can make a scan visit millions of
/// blocks.
enum { maxPasses = 32, minBlocks = 2 << 20 };

/// The number of bytes of all scans from which on it is faster to decode them without libjpeg. The tables take some
/// time.
enum { leastOrdinaryBytes = 12 << 10 };

/// The number of pixels around the needed ones that are decoded as well, because chroma is interpolated.
enum { cropMargin = 2 };

/// The state of decoding one file. Lives in the frame above the one that calls setjmp.
typedef struct Decoder {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_progress_mgr progress;
  JPEGErrors errors;
  ScanSource scans;
  const uint8_t *bytes;
  size_t count;
  CImageJPEGDecoding options;
  /// The destination of pixels, or of planes if `begin` is not NULL.
  CImagePlaneSink sink;
  /// Memory for rows that are not passed on yet, and for one row of CMYK samples.
  uint8_t *rows, *ink;
  /// The columns of pixels that are decoded.
  JDIMENSION firstColumn, columnCount;
  /// The components that occurred in a scan, one bit each.
  unsigned seen;
  /// The scan that began last, and the number of blocks that all scans so far visit.
  int scan;
  uint64_t passedBlocks;
  /// The decoder that replaces libjpeg, if the file is ordinary, and whether it has read everything so far. If not,
  /// libjpeg reads the file from the start.
  OrdinaryDecoder ordinary;
  bool isRead;
  /// The number of strips that were passed on before libjpeg began, and that of rows if the image is gray.
  size_t passedStrips;
  JDIMENSION passedRows;
  /// True if some scans are skipped because the pixels do not depend on them.
  bool leavesOut;
  /// True if all rows are read. Later errors do not affect the image.
  bool complete;
} Decoder;

static uint64_t block_count(const jpeg_component_info *component) {
  return (uint64_t)component->width_in_blocks * component->height_in_blocks;
}

/// Adds the blocks of a scan that begins, and fails if there are too many.
static void count_blocks(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  uint64_t all = 0;
  for (int i = 0; i < cinfo->num_components; i++) all += block_count(&cinfo->comp_info[i]);
  for (int i = 0; i < cinfo->comps_in_scan; i++) self->passedBlocks += block_count(cinfo->cur_comp_info[i]);
  if (self->passedBlocks > minBlocks && self->passedBlocks > maxPasses * all) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusLimit, "the JPEG file's scans visit too many blocks");
  }
}

/// Checks the limits on scans. libjpeg calls it before it reads the next piece of a file with several scans.
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
  if ((cinfo->num_components == 1) != (self->options.channels == 1)) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusCorrupt, "the JPEG file has conflicting headers");
  }
}

static void choose_planes(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  if (cinfo->jpeg_color_space != JCS_YCbCr || cinfo->num_components != 3) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusUnsupported, "the JPEG file's color space is not YCbCr");
  }
  cinfo->out_color_space = JCS_YCbCr;
  cinfo->raw_data_out = TRUE;
}

/// Chooses the output, and fails if the header differs from the one the caller read.
static void choose_output(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  if (cinfo->image_width != (JDIMENSION)self->options.width ||
      cinfo->image_height != (JDIMENSION)self->options.height) {
    cimage_jpeg_fail((j_common_ptr)cinfo, CImageStatusCorrupt, "the JPEG file has conflicting headers");
  }
  if (self->sink.begin != NULL) {
    choose_planes(self);
  } else {
    choose_pixels(self);
  }
  cinfo->scale_num = 1;
  cinfo->scale_denom = (unsigned)self->options.shrink;
  jpeg_calc_output_dimensions(cinfo);
}

/// Converts CMYK to RGB with ideal inks, each of which absorbs only its own color. Samples are inverted: 255 is no ink.
static void ideal_inks(const uint8_t *ink, uint8_t *rgb, size_t count) {
  for (size_t x = 0; x < count; x++) {
    for (int channel = 0; channel < 3; channel++) {
      rgb[3 * x + channel] = (uint8_t)((ink[4 * x + channel] * ink[4 * x + 3] + 127) / 255);
    }
  }
}

/// Returns `count` bytes, or fails.
static uint8_t *allocate(Decoder *self, size_t count) {
  uint8_t *memory = malloc(count);
  if (memory == NULL) cimage_jpeg_fail((j_common_ptr)&self->cinfo, CImageStatusOutOfMemory, "out of memory");
  return memory;
}

/// Reads the decoded columns of the next row of pixels.
static void read_row(Decoder *self, uint8_t *row) {
  j_decompress_ptr cinfo = &self->cinfo;
  row += (size_t)self->firstColumn * (size_t)self->options.channels;
  if (self->ink == NULL) {
    jpeg_read_scanlines(cinfo, &row, 1);
    return;
  }
  jpeg_read_scanlines(cinfo, &self->ink, 1);
  if (self->options.cmyk != NULL) {
    cimage_transform_row(self->options.cmyk, self->ink, row, self->columnCount);
  } else {
    ideal_inks(self->ink, row, self->columnCount);
  }
}

/// Returns true if a progressive file has not sent all bits of all coefficients.
static bool lacks_bits(const struct jpeg_decompress_struct *cinfo) {
  if (!cinfo->progressive_mode) return false;
  for (int component = 0; component < cinfo->num_components; component++) {
    for (int coefficient = 0; coefficient < DCTSIZE2; coefficient++) {
      // -1: not sent yet. Above 0: the number of low bits not sent yet.
      if (cinfo->coef_bits[component][coefficient] != 0) return true;
    }
  }
  return false;
}

/// Returns true if libjpeg-turbo leaves out columns and rows correctly. Version 2.1.5 and others interpolate too few
/// samples of a component that is neither as sparse as in the file nor at full resolution, and lose count of the rows.
static bool may_crop(j_decompress_ptr cinfo) {
  for (int i = 0; i < cinfo->num_components; i++) {
    const jpeg_component_info *component = &cinfo->comp_info[i];
    int across = SAMPLES_ACROSS(component), down = SAMPLES_DOWN(component);
    bool isSparse = across == LEAST_SAMPLES_ACROSS(cinfo) && down == LEAST_SAMPLES_DOWN(cinfo);
    bool isFull = component->h_samp_factor * across == cinfo->max_h_samp_factor * LEAST_SAMPLES_ACROSS(cinfo) &&
                  component->v_samp_factor * down == cinfo->max_v_samp_factor * LEAST_SAMPLES_DOWN(cinfo);
    if (!isSparse && !isFull) return false;
  }
  return true;
}

/// Leaves out columns that are not needed. libjpeg moves the first one to the left as necessary. If bits are missing,
/// it smooths blocks, which then depend on their neighbors.
static void crop_columns(Decoder *self, CImageArea needed) {
  j_decompress_ptr cinfo = &self->cinfo;
  int32_t left = needed.left - cropMargin, right = needed.right + cropMargin, width = (int32_t)cinfo->output_width;
  self->firstColumn = left > 0 ? (JDIMENSION)left : 0;
  self->columnCount = (JDIMENSION)(right < width ? right : width) - self->firstColumn;
  if (lacks_bits(cinfo)) {
    self->firstColumn = 0;
    self->columnCount = cinfo->output_width;
  } else if (self->columnCount < cinfo->output_width) {
    jpeg_crop_scanline(cinfo, &self->firstColumn, &self->columnCount);
  }
}

/// Leaves out the rows before number `row`.
static void skip_rows(Decoder *self, int32_t row) {
  j_decompress_ptr cinfo = &self->cinfo;
  int32_t count = row - (int32_t)cinfo->output_scanline;
  if (count <= 0) return;
  jpeg_skip_scanlines(cinfo, (JDIMENSION)count);
  self->sink.rows.skip(self->sink.rows.context, &count);
}

/// Reads the rows before number `end`.
static CImageStatus read_strips(Decoder *self, CImageBitmap strip, JDIMENSION end) {
  j_decompress_ptr cinfo = &self->cinfo;
  while (cinfo->output_scanline < end) {
    for (strip.height = 0; strip.height < stripRows && cinfo->output_scanline < end; strip.height++) {
      read_row(self, strip.pixels + (size_t)strip.height * strip.stride);
    }
    CImageStatus status = self->sink.rows.take(self->sink.rows.context, &strip);
    if (status != CImageStatusOK) return status;
  }
  return CImageStatusOK;
}

/// Reads the rows of an image, except for those that were passed on before.
static CImageStatus read_other_rows(Decoder *self, CImageArea needed) {
  j_decompress_ptr cinfo = &self->cinfo;
  size_t stride = (size_t)cinfo->output_width * (size_t)self->options.channels;
  CImageBitmap strip = {NULL, (int32_t)cinfo->output_width, 0, self->options.channels, stride};
  if (!may_crop(cinfo)) needed = (CImageArea){0, 0, (int32_t)cinfo->output_width, (int32_t)cinfo->output_height};
  crop_columns(self, needed);
  strip.pixels = self->rows = allocate(self, stride * stripRows);
  if (cinfo->num_components == 4) self->ink = allocate(self, (size_t)cinfo->output_width * 4);
  if (self->passedRows > 0) jpeg_skip_scanlines(cinfo, self->passedRows);
  skip_rows(self, needed.top - cropMargin);
  CImageStatus status = read_strips(self, strip, (JDIMENSION)needed.bottom);
  if (status != CImageStatusOK) return status;
  // libjpeg reads the data of the last row only if that row is read, and all data must be checked.
  skip_rows(self, (int32_t)cinfo->output_height - 1);
  return read_strips(self, strip, cinfo->output_height);
}

/// Passes on the strip that was decoded last.
static CImageStatus pass_strip(const Decoder *self, const PlaneReader *reader) {
  self->sink.rows.skip(self->sink.rows.context, reader->skipped);
  if (reader->planeCount == 1 && reader->strips[0].height == 0) return CImageStatusOK;
  return self->sink.rows.take(self->sink.rows.context, reader->strips);
}

/// Prepares decoding planes or gray pixels without libjpeg. Returns false if libjpeg decodes the file.
static bool open_ordinary(Decoder *self) {
  bool hasPlanes = self->sink.begin != NULL || self->cinfo.num_components == 1;
  // If the file ends within the header of its first scan, libjpeg has read the rest of it from other memory.
  if (!hasPlanes || self->errors.reachedEnd) return false;
  // No scan visits a block twice, so as many scans as passes visit no more blocks than they may.
  int maxScans = self->options.maxScans < maxPasses ? self->options.maxScans : maxPasses;
  ScanLimits limits = {self->options.maxMemory, maxScans, self->leavesOut};
  const uint8_t *end = self->bytes + self->count;
  return cimage_ordinary_open(&self->ordinary, &self->cinfo, end, leastOrdinaryBytes, limits);
}

/// Begins the file with libjpeg, and frees the coefficients that our decoder has read.
static void begin_libjpeg(Decoder *self) {
  j_decompress_ptr cinfo = &self->cinfo;
  cimage_ordinary_close(&self->ordinary);
  // libjpeg prepares only components that are needed at the start, and those of the last strip may not have been.
  for (int i = 0; i < cinfo->num_components; i++) cinfo->comp_info[i].component_needed = TRUE;
  jpeg_start_decompress(cinfo);
}

/// Decodes strips without libjpeg, until the end or until data is not as it should be. Then libjpeg begins.
static CImageStatus read_ordinary_strips(Decoder *self, PlaneReader *reader) {
  j_decompress_ptr cinfo = &self->cinfo;
  CImageStatus status = CImageStatusOK;
  while (self->isRead && self->passedStrips < cinfo->total_iMCU_rows && status == CImageStatusOK) {
    cimage_plane_reader_advance(reader, cinfo, self->rows);
    self->isRead = cimage_ordinary_read(&self->ordinary, reader);
    if (self->isRead) {
      status = pass_strip(self, reader);
      self->passedStrips += 1;
    } else {
      begin_libjpeg(self);
    }
  }
  return status;
}

/// Decodes the rows of a gray image without libjpeg, until the end or until data is not as it should be.
static CImageStatus read_gray_rows(Decoder *self, CImageArea needed) {
  j_decompress_ptr cinfo = &self->cinfo;
  PlaneReader reader;
  self->rows = allocate(self, cimage_plane_reader_init(&reader, cinfo, self->options));
  // A last row or column with padding is passed on, too.
  reader.planes[0].width = reader.strips[0].width = (int32_t)cinfo->output_width;
  reader.planes[0].height = (int32_t)cinfo->output_height;
  reader.needed[0] = needed;
  CImageStatus status = read_ordinary_strips(self, &reader);
  free(self->rows);
  self->rows = NULL;
  self->passedRows = (JDIMENSION)(self->passedStrips * reader.stripRows[0]);
  return status;
}

static CImageStatus read_rows(Decoder *self) {
  CImageArea needed = self->sink.rows.needed(self->sink.rows.context, 0);
  CImageStatus status = self->isRead ? read_gray_rows(self, needed) : CImageStatusOK;
  return self->isRead || status != CImageStatusOK ? status : read_other_rows(self, needed);
}

/// Decodes all strips with libjpeg, and passes on those that were not passed on before.
static CImageStatus read_other_strips(Decoder *self, PlaneReader *reader) {
  j_decompress_ptr cinfo = &self->cinfo;
  CImageStatus status = CImageStatusOK;
  reader->count = 0;
  while (cinfo->output_scanline < cinfo->output_height && status == CImageStatusOK) {
    cimage_plane_reader_advance(reader, cinfo, self->rows);
    cimage_plane_reader_read(reader, cinfo);
    if (reader->count > self->passedStrips) status = pass_strip(self, reader);
  }
  return status;
}

static CImageStatus read_planes(Decoder *self) {
  PlaneReader reader;
  size_t count = cimage_plane_reader_init(&reader, &self->cinfo, self->options);
  CImageStatus status = self->sink.begin(self->sink.rows.context, reader.planes);
  if (status != CImageStatusOK) return status;
  for (int i = 0; i < 3; i++) reader.needed[i] = self->sink.rows.needed(self->sink.rows.context, i);
  self->rows = allocate(self, count);
  status = read_ordinary_strips(self, &reader);
  return self->isRead || status != CImageStatusOK ? status : read_other_strips(self, &reader);
}

/// Returns true if the file ended before its last scan.
static bool lacks_scans(const Decoder *self) {
  const struct jpeg_decompress_struct *cinfo = &self->cinfo;
  if (!jpeg_has_multiple_scans((j_decompress_ptr)cinfo)) return false;
  if (self->seen != (1u << cinfo->num_components) - 1) return true;
  // Scans are skipped only in files with an end marker, which are not truncated.
  return !self->leavesOut && lacks_bits(cinfo);
}

static void judge_damage(Decoder *self) {
  j_common_ptr cinfo = (j_common_ptr)&self->cinfo;
  // The arithmetic decoder reads zeros after the end of the data and cannot detect that they are not data.
  bool vague = self->cinfo.arith_code;
  bool cutShort = self->errors.reachedEnd && (self->errors.damaged || vague || lacks_scans(self));
  if (cutShort) cimage_jpeg_fail(cinfo, CImageStatusTruncated, "the JPEG file ends before its image data does");
  if (self->errors.damaged) cimage_jpeg_fail(cinfo, CImageStatusCorrupt, "the JPEG file's image data is corrupt");
}

/// Decodes the file in the frame that error jumps return to. After longjmp, locals of this function that were modified
/// after setjmp are indeterminate (C11, 7.13.2.1), so everything needed afterward is in `self`, which lives in a
/// caller's frame.
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
  self->isRead = open_ordinary(self);
  if (!self->isRead) jpeg_start_decompress(cinfo);
  CImageStatus status = self->sink.begin != NULL ? read_planes(self) : read_rows(self);
  if (status != CImageStatusOK) return status;
  judge_damage(self);
  self->complete = true;
  // The other decoder has found the end marker.
  if (!self->isRead) jpeg_finish_decompress(cinfo);
  return CImageStatusOK;
}

/// Decodes to `sink`, and frees everything.
static CImageStatus decode_file(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, CImagePlaneSink sink,
                                CImageMessages *messages) {
  Decoder self;
  memset(&self, 0, sizeof self);
  self.cinfo.err = cimage_jpeg_errors(&self.errors, messages);
  self.bytes = bytes;
  self.count = count;
  self.options = options;
  self.sink = sink;
  CImageStatus status = decode(&self);
  jpeg_destroy_decompress(&self.cinfo);
  cimage_ordinary_close(&self.ordinary);
  free(self.rows);
  free(self.ink);
  return status;
}

CImageStatus cimage_jpeg_decode(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, CImageRowSink sink,
                                CImageMessages *messages) {
  return decode_file(bytes, count, options, (CImagePlaneSink){.begin = NULL, .rows = sink}, messages);
}

CImageStatus cimage_jpeg_decode_planes(const uint8_t *bytes, size_t count, CImageJPEGDecoding options,
                                       CImagePlaneSink sink, CImageMessages *messages) {
  return decode_file(bytes, count, options, sink, messages);
}
