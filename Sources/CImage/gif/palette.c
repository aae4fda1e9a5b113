// Chooses the colors of the frames of GIF files.
//
// A frame with few colors keeps them. Otherwise, its colors are divided into boxes by the cuts that reduce the squared
// error most (Wu, Efficient Statistical Computations for Optimal Color Quantization, 1991), the means of the boxes are
// moved to the means of the colors that are nearest to them, and the error of each pixel is passed on to its neighbors
// (Floyd and Steinberg, 1976).

#include "palette.h"

#include <stdlib.h>
#include <string.h>

#include "../simd.h"

// A product and a sum must not be fused, as processors other than x86-64 can, so that all give the same pixels.
#pragma STDC FP_CONTRACT OFF

enum { listSlots = 1024, binLimit = 1 << 14, binSlots = 1 << 15, rounds = 3 };

/// The number of pixels of some colors, and the sums of their samples.
typedef struct Moments {
  double weight, sums[3];
} Moments;

/// Colors that are not distinguished, because they differ in their lowest bits only.
typedef struct Bin {
  Moments moments;
  uint8_t color[3];
} Bin;

/// A part of the bins, and the best way to divide it: below a sample of one channel.
typedef struct Box {
  int32_t first, end;
  double gain;
  int32_t channel, cut;
} Box;

/// Colors in the order in which vectors compare them. Unused ones are far from all others.
typedef struct Candidates {
  int32_t samples[3][cimageGIFColors];
} Candidates;

struct GIFQuantizer {
  uint32_t listKeys[listSlots];
  uint8_t listIndices[listSlots];
  int32_t binCount;
  Bin bins[binLimit];
  uint32_t binKeys[binSlots];
  uint16_t binIndices[binSlots];
  Candidates candidates;
};

GIFQuantizer *cimage_gif_quantizer_create(void) { return malloc(sizeof(GIFQuantizer)); }

void cimage_gif_quantizer_destroy(GIFQuantizer *quantizer) { free(quantizer); }

static inline int32_t sample_of(uint32_t color, int32_t channel) { return color >> (8 * channel) & 255; }

// MARK: Few colors

/// Returns the slot of an opaque color, or the empty one where it belongs.
static inline size_t list_slot(const GIFQuantizer *self, uint32_t color) {
  size_t slot = color * 2654435761u >> 22;
  while (self->listKeys[slot] != 0 && self->listKeys[slot] != color) slot = (slot + 1) % listSlots;
  return slot;
}

static void add_color(GIFPalette *palette, uint32_t color) {
  for (int32_t channel = 0; channel < 3; channel++) {
    palette->colors[palette->count][channel] = (uint8_t)sample_of(color, channel);
  }
  palette->count++;
}

static bool list_row(GIFQuantizer *self, const uint32_t *pixels, const uint8_t *drawn, int32_t width, int32_t limit,
                     GIFPalette *palette) {
  for (int32_t x = 0; x < width; x++) {
    if (drawn[x] == 0) continue;
    size_t slot = list_slot(self, pixels[x]);
    if (self->listKeys[slot] != 0) continue;
    if (palette->count == limit) return false;
    self->listKeys[slot] = pixels[x];
    self->listIndices[slot] = (uint8_t)palette->count;
    add_color(palette, pixels[x]);
  }
  return true;
}

bool cimage_gif_list(GIFQuantizer *self, const GIFArea *area, int32_t limit, GIFPalette *palette) {
  memset(self->listKeys, 0, sizeof self->listKeys);
  palette->count = 0;
  for (int32_t y = 0; y < area->height; y++) {
    const uint8_t *drawn = area->indices + (size_t)y * (size_t)area->width;
    if (!list_row(self, area->pixels + (size_t)y * area->stride, drawn, area->width, limit, palette)) return false;
  }
  return true;
}

void cimage_gif_look_up(GIFQuantizer *self, const GIFArea *area, int32_t gap) {
  for (int32_t y = 0; y < area->height; y++) {
    const uint32_t *pixels = area->pixels + (size_t)y * area->stride;
    uint8_t *indices = area->indices + (size_t)y * (size_t)area->width;
    for (int32_t x = 0; x < area->width; x++) {
      indices[x] = indices[x] ? self->listIndices[list_slot(self, pixels[x])] : (uint8_t)gap;
    }
  }
}

// MARK: Bins

static void add(Moments *moments, const Moments *other) {
  moments->weight += other->weight;
  for (int32_t channel = 0; channel < 3; channel++) moments->sums[channel] += other->sums[channel];
}

/// Returns the bin of a color, which may be new; NULL if there are too many.
static Bin *bin_of(GIFQuantizer *self, uint32_t color) {
  size_t slot = color * 2654435761u >> 17;
  while (self->binKeys[slot] != 0 && self->binKeys[slot] != color) slot = (slot + 1) % binSlots;
  if (self->binKeys[slot] == 0) {
    if (self->binCount == binLimit) return NULL;
    self->binKeys[slot] = color;
    self->binIndices[slot] = (uint16_t)self->binCount;
    Bin *bin = &self->bins[self->binCount++];
    *bin = (Bin){{0, {0, 0, 0}}, {(uint8_t)color, (uint8_t)(color >> 8), (uint8_t)(color >> 16)}};
  }
  return &self->bins[self->binIndices[slot]];
}

static bool count_row(GIFQuantizer *self, const uint32_t *pixels, const uint8_t *drawn, int32_t width, uint32_t mask) {
  for (int32_t x = 0; x < width; x++) {
    if (drawn[x] == 0) continue;
    Bin *bin = bin_of(self, pixels[x] & mask);
    if (bin == NULL) return false;
    bin->moments.weight++;
    for (int32_t channel = 0; channel < 3; channel++) bin->moments.sums[channel] += sample_of(pixels[x], channel);
  }
  return true;
}

/// Counts the colors that differ in the bits of `mask`. Returns false if there are too many.
static bool count_colors(GIFQuantizer *self, const GIFArea *area, uint32_t mask) {
  memset(self->binKeys, 0, sizeof self->binKeys);
  self->binCount = 0;
  for (int32_t y = 0; y < area->height; y++) {
    const uint8_t *drawn = area->indices + (size_t)y * (size_t)area->width;
    if (!count_row(self, area->pixels + (size_t)y * area->stride, drawn, area->width, mask)) return false;
  }
  return true;
}

// MARK: Boxes

static double square(const Moments *moments) {
  double sum = 0;
  for (int32_t channel = 0; channel < 3; channel++) sum += moments->sums[channel] * moments->sums[channel];
  return moments->weight > 0 ? sum / moments->weight : 0;
}

static Moments difference(const Moments *moments, const Moments *other) {
  Moments result = {moments->weight - other->weight, {0, 0, 0}};
  for (int32_t channel = 0; channel < 3; channel++) {
    result.sums[channel] = moments->sums[channel] - other->sums[channel];
  }
  return result;
}

/// Finds the cut of a box by one channel that reduces the squared error most, if it is better than the one so far.
static void find_cut_by(const Bin *bins, Box *box, int32_t channel) {
  Moments samples[256] = {{0, {0, 0, 0}}}, total = {0, {0, 0, 0}}, below = {0, {0, 0, 0}};
  for (int32_t i = box->first; i < box->end; i++) {
    add(&samples[bins[i].color[channel]], &bins[i].moments);
    add(&total, &bins[i].moments);
  }
  double before = square(&total);
  for (int32_t cut = 1; cut < 256; cut++) {
    if (samples[cut - 1].weight == 0) continue;
    add(&below, &samples[cut - 1]);
    Moments above = difference(&total, &below);
    double gain = square(&below) + square(&above) - before;
    if (above.weight > 0 && gain > box->gain) {
      box->gain = gain;
      box->channel = channel;
      box->cut = cut;
    }
  }
}

static Box box_of(const Bin *bins, int32_t first, int32_t end) {
  Box box = {first, end, 0, 0, 0};
  for (int32_t channel = 0; channel < 3; channel++) find_cut_by(bins, &box, channel);
  return box;
}

/// Moves the bins below the cut of a box to its beginning, and returns their end.
static int32_t divide(Bin *bins, const Box *box) {
  int32_t end = box->first;
  for (int32_t i = box->first; i < box->end; i++) {
    if (bins[i].color[box->channel] >= box->cut) continue;
    Bin bin = bins[i];
    bins[i] = bins[end];
    bins[end++] = bin;
  }
  return end;
}

static int32_t best_box(const Box *boxes, int32_t count) {
  int32_t best = 0;
  for (int32_t i = 1; i < count; i++) best = boxes[i].gain > boxes[best].gain ? i : best;
  return best;
}

static void set_mean(uint8_t *color, const Moments *moments) {
  for (int32_t channel = 0; channel < 3; channel++) {
    color[channel] = (uint8_t)(moments->sums[channel] / moments->weight + 0.5);
  }
}

/// Divides the bins into at most `limit` boxes, and sets the palette to their means.
static void choose(GIFQuantizer *self, int32_t limit, GIFPalette *palette) {
  Box boxes[cimageGIFColors];
  int32_t count = 1;
  boxes[0] = box_of(self->bins, 0, self->binCount);
  for (; count < limit; count++) {
    Box *box = &boxes[best_box(boxes, count)];
    if (box->gain <= 0) break;
    int32_t middle = divide(self->bins, box);
    boxes[count] = box_of(self->bins, middle, box->end);
    *box = box_of(self->bins, box->first, middle);
  }
  palette->count = count;
  for (int32_t i = 0; i < count; i++) {
    Moments total = {0, {0, 0, 0}};
    for (int32_t bin = boxes[i].first; bin < boxes[i].end; bin++) add(&total, &self->bins[bin].moments);
    set_mean(palette->colors[i], &total);
  }
}

// MARK: Nearest colors

static void set_candidates(Candidates *candidates, const GIFPalette *palette) {
  for (int32_t channel = 0; channel < 3; channel++) {
    for (int32_t i = 0; i < cimageGIFColors; i++) {
      candidates->samples[channel][i] = i < palette->count ? palette->colors[i][channel] : 1024;
    }
  }
}

/// Returns the index of the nearest color; of equally near ones, the first. Compilers turn it into vectors, because an
/// index is the lowest byte of its distance.
static inline int32_t nearest(const Candidates *candidates, const int32_t *color) {
  uint32_t best = UINT32_MAX;
  for (int32_t i = 0; i < cimageGIFColors; i++) {
    int32_t red = candidates->samples[0][i] - color[0];
    int32_t green = candidates->samples[1][i] - color[1];
    int32_t blue = candidates->samples[2][i] - color[2];
    uint32_t distance = (uint32_t)(red * red + green * green + blue * blue) << 8 | (uint32_t)i;
    best = distance < best ? distance : best;
  }
  return best & 255;
}

/// Adds the bins to the totals of the colors that are nearest to them.
WITH_AVX2 static void assign(const Candidates *candidates, const Bin *bins, int32_t count, Moments *totals) {
  for (int32_t i = 0; i < count; i++) {
    int32_t color[3];
    for (int32_t channel = 0; channel < 3; channel++) {
      color[channel] = (int32_t)(bins[i].moments.sums[channel] / bins[i].moments.weight + 0.5);
    }
    Moments *total = &totals[nearest(candidates, color)];
    total->weight += bins[i].moments.weight;
    for (int32_t channel = 0; channel < 3; channel++) total->sums[channel] += bins[i].moments.sums[channel];
  }
}

/// Moves each color to the mean of those that are nearest to it.
static void improve(GIFQuantizer *self, GIFPalette *palette) {
  for (int32_t round = 0; round < rounds; round++) {
    Moments totals[cimageGIFColors] = {{0, {0, 0, 0}}};
    set_candidates(&self->candidates, palette);
    assign(&self->candidates, self->bins, self->binCount, totals);
    for (int32_t i = 0; i < palette->count; i++) {
      if (totals[i].weight > 0) set_mean(palette->colors[i], &totals[i]);
    }
  }
  set_candidates(&self->candidates, palette);
}

// MARK: Errors

/// A row of pixels that get their indices, with the errors of their neighbors. The errors of three channels follow each
/// other, in sixteenths; there is one pixel before the row, and one behind it.
typedef struct Row {
  const uint32_t *pixels;
  uint8_t *indices;
  int32_t width, gap;
  int32_t *errors, *next;
} Row;

static inline int32_t clamped(int32_t sample) { return sample < 0 ? 0 : sample > 255 ? 255 : sample; }

/// Passes the error of a pixel on: 7/16 to the next one in direction `step`, and the rest to three of the next row.
static inline void pass_on(Row row, int32_t x, int32_t step, int32_t channel, int32_t error) {
  int32_t place = 3 * (x + 1) + channel;
  row.errors[place + 3 * step] += 7 * error;
  row.next[place - 3 * step] += 3 * error;
  row.next[place] += 5 * error;
  row.next[place + 3 * step] += error;
}

/// Gives the pixels of a row their indices, in direction `step`. What is not drawn takes no error.
WITH_AVX2 static void index_row(const Candidates *candidates, const GIFPalette *palette, Row row, int32_t step) {
  for (int32_t i = 0; i < row.width; i++) {
    int32_t x = step > 0 ? i : row.width - 1 - i, color[3];
    if (row.indices[x] == 0) {
      row.indices[x] = (uint8_t)row.gap;
      continue;
    }
    for (int32_t channel = 0; channel < 3; channel++) {
      int32_t sample = row.pixels[x] >> (8 * channel) & 255;
      color[channel] = clamped(sample + ((row.errors[3 * (x + 1) + channel] + 8) >> 4));
    }
    int32_t index = nearest(candidates, color);
    for (int32_t channel = 0; channel < 3; channel++) {
      pass_on(row, x, step, channel, color[channel] - palette->colors[index][channel]);
    }
    row.indices[x] = (uint8_t)index;
  }
}

/// Gives the pixels that are drawn the indices of colors near to them. Returns false if memory runs out.
static bool dither(const GIFQuantizer *self, const GIFArea *area, int32_t gap, const GIFPalette *palette) {
  size_t count = 3 * ((size_t)area->width + 2);
  int32_t *errors = calloc(2 * count, sizeof *errors), *next = errors + count;
  if (errors == NULL) return false;
  for (int32_t y = 0; y < area->height; y++) {
    Row row = {area->pixels + (size_t)y * area->stride, area->indices + (size_t)y * (size_t)area->width, area->width,
               gap, y % 2 == 0 ? errors : next, y % 2 == 0 ? next : errors};
    memset(row.next, 0, count * sizeof *errors);
    index_row(&self->candidates, palette, row, y % 2 == 0 ? 1 : -1);
  }
  free(errors);
  return true;
}

bool cimage_gif_reduce(GIFQuantizer *self, const GIFArea *area, int32_t limit, GIFPalette *palette) {
  // As many bits as the bins have room for. With four, there are 4096 colors at most.
  uint32_t mask = 0xff;
  while (!count_colors(self, area, mask * 0x10101 | 0xff000000)) mask = mask << 1 & 0xff;
  choose(self, limit, palette);
  improve(self, palette);
  return dither(self, area, palette->count, palette);
}
