// Encodes GIF files (GIF89a): still images, and animations of which each frame has only what differs from the one
// before.

#include <stdlib.h>
#include <string.h>

#include "CImage.h"
#include "bytes.h"
#include "palette.h"

/// The shortest time for which browsers show a frame, in hundredths of a second.
enum { shortest = 2, longest = 0xffff };

struct CImageGIF {
  int32_t width, height, loops;
  GIFBytes file;
  GIFQuantizer *quantizer;
  /// The last frame, which is not written yet, because the next one decides how long it is shown and whether it is
  /// removed; and the canvas before it. Red is the lowest byte of a pixel, followed by green, blue, and alpha, which is
  /// 0 or 255. Transparent pixels are 0.
  uint32_t *frame, *canvas;
  uint8_t *indices;
  /// The hundredths of a second from the beginning to the appearance of the last frame.
  int32_t start;
  bool hasFrame, hasHeader;
};

/// A frame that is being written.
typedef struct Frame {
  CImageArea box;
  GIFArea area;
  GIFPalette palette;
  /// True if the area becomes transparent before the next frame.
  bool isCleared;
  /// True if the index after the palette is transparent: where the canvas shows through, or because the area becomes
  /// transparent, which some programs do only then.
  bool hasGap;
} Frame;

// MARK: Pixels

static inline uint32_t color_of(const uint8_t *pixel, int32_t channels) {
  bool isGray = channels < 3;
  if (channels % 2 == 0 && pixel[channels - 1] < 128) return 0;
  return pixel[0] | (uint32_t)pixel[isGray ? 0 : 1] << 8 | (uint32_t)pixel[isGray ? 0 : 2] << 16 | 0xff000000;
}

static inline uint32_t color_at(CImageBitmap frame, int32_t x, int32_t y) {
  return color_of(frame.pixels + (size_t)y * frame.stride + (size_t)x * (size_t)frame.channels, frame.channels);
}

static inline size_t place(const CImageGIF *self, int32_t x, int32_t y) {
  return (size_t)y * (size_t)self->width + (size_t)x;
}

static void keep(CImageGIF *self, CImageBitmap frame) {
  for (int32_t y = 0; y < self->height; y++) {
    for (int32_t x = 0; x < self->width; x++) self->frame[place(self, x, y)] = color_at(frame, x, y);
  }
  self->hasFrame = true;
}

static bool equals_last(const CImageGIF *self, CImageBitmap frame) {
  for (int32_t y = 0; y < self->height; y++) {
    for (int32_t x = 0; x < self->width; x++) {
      if (self->frame[place(self, x, y)] != color_at(frame, x, y)) return false;
    }
  }
  return self->hasFrame;
}

/// Returns true if a frame can follow the canvas: it has no transparent pixels where that is opaque.
static bool covers_canvas(const CImageGIF *self, CImageBitmap frame) {
  for (int32_t y = 0; y < self->height; y++) {
    for (int32_t x = 0; x < self->width; x++) {
      if (self->canvas[place(self, x, y)] != 0 && color_at(frame, x, y) == 0) return false;
    }
  }
  return true;
}

// MARK: Areas

static void include(CImageArea *area, int32_t x, int32_t y) {
  area->left = x < area->left ? x : area->left;
  area->top = y < area->top ? y : area->top;
  area->right = x >= area->right ? x + 1 : area->right;
  area->bottom = y >= area->bottom ? y + 1 : area->bottom;
}

/// Returns the smallest area with all pixels that differ from the canvas. The first frame is as large as the canvas,
/// and no frame is empty.
static CImageArea changed_area(const CImageGIF *self) {
  if (!self->hasHeader) return (CImageArea){0, 0, self->width, self->height};
  CImageArea area = {self->width, self->height, 0, 0};
  for (int32_t y = 0; y < self->height; y++) {
    for (int32_t x = 0; x < self->width; x++) {
      if (self->frame[place(self, x, y)] != self->canvas[place(self, x, y)]) include(&area, x, y);
    }
  }
  return area.right > area.left ? area : (CImageArea){0, 0, 1, 1};
}

/// Adds the pixels to an area that become transparent in the next frame. Returns true if there are any; then the area
/// has to be removed from the canvas, because a frame cannot make it transparent.
static bool include_cleared(const CImageGIF *self, CImageBitmap next, CImageArea *area) {
  bool isCleared = false;
  for (int32_t y = 0; y < self->height; y++) {
    for (int32_t x = 0; x < self->width; x++) {
      if (self->frame[place(self, x, y)] == 0 || color_at(next, x, y) != 0) continue;
      include(area, x, y);
      isCleared = true;
    }
  }
  return isCleared;
}

/// Draws the last frame on the canvas, and then removes its area, if it is to be transparent.
static void show(CImageGIF *self, CImageArea area, bool isCleared) {
  size_t count = (size_t)(area.right - area.left) * sizeof *self->canvas;
  for (int32_t y = area.top; y < area.bottom; y++) {
    uint32_t *row = self->canvas + place(self, area.left, y);
    if (isCleared) {
      memset(row, 0, count);
    } else {
      memcpy(row, self->frame + place(self, area.left, y), count);
    }
  }
}

// MARK: Colors

/// Marks the pixels of an area that are drawn: those that differ from the canvas, or all that are opaque. Returns true
/// if there are others.
static bool mark(const CImageGIF *self, const GIFArea *area, bool redraws) {
  bool hasGaps = false;
  const uint32_t *canvas = self->canvas + (area->pixels - self->frame);
  for (int32_t y = 0; y < area->height; y++) {
    size_t row = (size_t)y * area->stride;
    uint8_t *drawn = area->indices + (size_t)y * (size_t)area->width;
    for (int32_t x = 0; x < area->width; x++) {
      uint32_t color = area->pixels[row + (size_t)x];
      drawn[x] = color != 0 && (redraws || color != canvas[row + (size_t)x]);
      hasGaps |= !drawn[x];
    }
  }
  return hasGaps;
}

/// Lists the colors of a frame. Returns false if there are more than a palette has.
static bool list(CImageGIF *self, Frame *frame, bool redraws) {
  frame->hasGap = mark(self, &frame->area, redraws) || frame->isCleared;
  return cimage_gif_list(self->quantizer, &frame->area, cimageGIFColors - frame->hasGap, &frame->palette);
}

/// Gives the pixels of a frame their indices. Returns false if memory runs out.
static bool choose_colors(CImageGIF *self, Frame *frame) {
  // Without gaps, the palette has one color more.
  if (list(self, frame, false) || list(self, frame, true)) {
    cimage_gif_look_up(self->quantizer, &frame->area, frame->palette.count);
    return true;
  }
  frame->hasGap = mark(self, &frame->area, false) || frame->isCleared;
  return cimage_gif_reduce(self->quantizer, &frame->area, cimageGIFColors - frame->hasGap, &frame->palette);
}

// MARK: Blocks

/// Writes the header and the logical screen descriptor (GIF89a, sections 17 and 18), without a global color table. An
/// animation has the extension of Netscape, which has the number of repetitions, unless it is shown once.
static void put_header(CImageGIF *self, bool isStill) {
  cimage_gif_put(&self->file, "GIF89a", 6);
  cimage_gif_put_short(&self->file, self->width);
  cimage_gif_put_short(&self->file, self->height);
  cimage_gif_put(&self->file, (uint8_t[]){0x70, 0, 0}, 3);
  if (!isStill && self->loops != 1) {
    cimage_gif_put(&self->file, "!\xff\x0bNETSCAPE2.0\x03\x01", 16);
    cimage_gif_put_short(&self->file, self->loops > 0 ? self->loops - 1 : 0);
    cimage_gif_put_byte(&self->file, 0);
  }
  self->hasHeader = true;
}

/// Writes a graphic control extension (GIF89a, section 23).
static void put_control(CImageGIF *self, const Frame *frame, int32_t duration) {
  int32_t disposal = frame->isCleared ? 2 : 1;
  cimage_gif_put(&self->file, (uint8_t[]){0x21, 0xf9, 4, (uint8_t)(disposal << 2 | frame->hasGap)}, 4);
  cimage_gif_put_short(&self->file, duration < longest ? duration : longest);
  cimage_gif_put(&self->file, (uint8_t[]){(uint8_t)(frame->hasGap ? frame->palette.count : 0), 0}, 2);
}

/// Writes the image descriptor, the local color table and the data of a frame (GIF89a, sections 20 to 22).
static void put_image(CImageGIF *self, const Frame *frame) {
  const GIFPalette *palette = &frame->palette;
  const GIFArea *area = &frame->area;
  int32_t bits = 1;
  while (1 << bits < palette->count + frame->hasGap) bits++;
  cimage_gif_put_byte(&self->file, 0x2c);
  const int32_t numbers[] = {frame->box.left, frame->box.top, area->width, area->height};
  for (int i = 0; i < 4; i++) cimage_gif_put_short(&self->file, numbers[i]);
  cimage_gif_put_byte(&self->file, 0x80 | (bits - 1));
  cimage_gif_put(&self->file, palette->colors, 3 * (size_t)palette->count);
  for (int32_t i = palette->count; i < 1 << bits; i++) cimage_gif_put(&self->file, (uint8_t[]){0, 0, 0}, 3);
  cimage_gif_put_data(&self->file, area->indices, (size_t)area->width * (size_t)area->height, bits);
}

/// Writes the last frame, which is shown until `end`, and then removed where `next` is transparent. NULL if it is the
/// last one of the file.
static CImageStatus put_frame(CImageGIF *self, const CImageBitmap *next, int32_t end) {
  bool isStill = next == NULL && !self->hasHeader;
  Frame frame = {.box = changed_area(self)};
  if (!self->hasHeader) put_header(self, isStill);
  frame.isCleared = next != NULL && include_cleared(self, *next, &frame.box);
  CImageArea box = frame.box;
  frame.area = (GIFArea){self->frame + place(self, box.left, box.top), (size_t)self->width, box.right - box.left,
                         box.bottom - box.top, self->indices};
  if (!choose_colors(self, &frame)) return CImageStatusOutOfMemory;
  if (!isStill || frame.hasGap) put_control(self, &frame, isStill ? 0 : end - self->start);
  put_image(self, &frame);
  show(self, box, frame.isCleared);
  return self->file.hasFailed ? CImageStatusOutOfMemory : CImageStatusOK;
}

// MARK: Files

CImageStatus cimage_gif_create(int32_t width, int32_t height, int32_t loops, CImageGIF **gif) {
  *gif = NULL;
  size_t count = (size_t)width * (size_t)height;
  CImageGIF *self = calloc(1, sizeof *self);
  if (self == NULL) return CImageStatusOutOfMemory;
  self->width = width;
  self->height = height;
  self->loops = loops;
  self->quantizer = cimage_gif_quantizer_create();
  self->frame = malloc(count * sizeof *self->frame);
  self->canvas = calloc(count, sizeof *self->canvas);
  self->indices = malloc(count);
  if (self->quantizer == NULL || self->frame == NULL || self->canvas == NULL || self->indices == NULL) {
    cimage_gif_destroy(self);
    return CImageStatusOutOfMemory;
  }
  *gif = self;
  return CImageStatusOK;
}

CImageStatus cimage_gif_add(CImageGIF *self, CImageBitmap frame, int32_t start) {
  if (equals_last(self, frame)) return CImageStatusOK;
  int32_t time = start / 10 + (start % 10 >= 5);
  // A frame that would be too short makes the next one late. If it is itself so late that its time is over, it is left
  // out, unless a part of the canvas would have to become transparent.
  bool isReplaced = self->hasFrame && time <= self->start && covers_canvas(self, frame);
  if (self->hasFrame && !isReplaced) {
    if (time < self->start + shortest) time = self->start + shortest;
    CImageStatus status = put_frame(self, &frame, time);
    if (status != CImageStatusOK) return status;
    self->start = time;
  }
  keep(self, frame);
  return CImageStatusOK;
}

CImageStatus cimage_gif_finish(CImageGIF *self, int32_t end, uint8_t **bytes, size_t *count) {
  *bytes = NULL;
  *count = 0;
  if (!self->hasFrame) return CImageStatusCorrupt;
  int32_t time = end / 10 + (end % 10 >= 5);
  CImageStatus status = put_frame(self, NULL, time < self->start + shortest ? self->start + shortest : time);
  cimage_gif_put_byte(&self->file, 0x3b);
  if (status != CImageStatusOK || self->file.hasFailed) return CImageStatusOutOfMemory;
  *bytes = self->file.bytes;
  *count = self->file.count;
  self->file = (GIFBytes){NULL, 0, 0, false};
  self->hasFrame = false;
  return CImageStatusOK;
}

void cimage_gif_destroy(CImageGIF *self) {
  if (self == NULL) return;
  cimage_gif_quantizer_destroy(self->quantizer);
  free(self->frame);
  free(self->canvas);
  free(self->indices);
  free(self->file.bytes);
  free(self);
}
