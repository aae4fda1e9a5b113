// The inverse DCT of libjpeg-turbo (jidctint.c, jidctred.c), which also shrinks, to the same samples.

#ifndef CIMAGE_JPEG_INVERSE_H
#define CIMAGE_JPEG_INVERSE_H

#include <stdbool.h>

#include "block.h"
#include "lanes.h"

// libjpeg-turbo computes the inverse DCT with vectors or without, and then overflows differently. Without, its table
// takes samples of -512 to 511 before they are clamped; with vectors, sums of two numbers must fit in 16 bits. Photos
// do not get near, and a block that might is left to the library. Safe are:
// - a sum of absolute values up to `safeSum`, because no coefficient adds more than 0.241 of its value to a sample
// - otherwise a sum up to `safeColumn` in each column, whose results are at most 5.55 times the sum, then up to
//   `safeRow` in each row of these, and then samples up to `safeSample`
enum { safeSum = 2040, safeColumn = 5800, safeRow = INT16_MAX - 1, safeSample = 511 };

/// The binary digits of the constants after the point, and those of the results of the first pass.
enum { constantBits = 13, middleBits = 2 };

static inline uint8_t clamped(int32_t sample) { return (uint8_t)(sample < 0 ? 0 : sample > 255 ? 255 : sample); }

/// Returns the only sample of a block without AC coefficients, or of a block that becomes one sample.
static inline uint8_t mean_sample(int32_t dc) { return clamped(((dc + 4) >> 3) + 128); }

/// Computes the sample of a block that becomes one. Returns false if its DC coefficient is too large.
static inline bool invert_to_1(int32_t dc, uint8_t *sample) {
  *sample = mean_sample(dc);
  return dc >= -2 * safeSum && dc <= 2 * safeSum;
}

/// Fills a square with the only sample of a block. Returns true.
static inline bool fill_samples(Block block, int side, uint8_t *samples, size_t stride) {
  uint8_t sample = mean_sample(block.values[0]);
  for (int y = 0; y < side; y++) memset(samples + (size_t)y * stride, sample, (size_t)side);
  return true;
}

/// Computes the sums and the differences of the even and the odd part.
static inline void combine(const WideLanes even[4], const WideLanes odd[4], int shift, Lanes out[8]) {
  for (int i = 0; i < 4; i++) {
    out[i] = narrow(add(even[i], odd[i]), shift);
    out[7 - i] = narrow(subtract(even[i], odd[i]), shift);
  }
}

/// Transforms columns of eight coefficients.
static inline void transform(Lanes v[8], int shift) {
  WideLanes sum = add_number(products(v[0], 8192, v[4], 8192), 1 << (shift - 1));
  WideLanes difference = add_number(products(v[0], 8192, v[4], -8192), 1 << (shift - 1));
  WideLanes outer = products(v[2], 10703, v[6], 4433), inner = products(v[2], 4433, v[6], -10704);
  WideLanes even[4] = {add(sum, outer), add(difference, inner), subtract(difference, inner), subtract(sum, outer)};
  WideLanes odd[4] = {add(products(v[1], 11363, v[3], 9633), products(v[5], 6437, v[7], 2260)),
                      add(products(v[1], 9633, v[3], -2259), products(v[5], -11362, v[7], -6436)),
                      add(products(v[1], 6437, v[3], -11362), products(v[5], 2261, v[7], 9633)),
                      add(products(v[1], 2260, v[3], -6436), products(v[5], 9633, v[7], -11363))};
  combine(even, odd, shift, v);
}

/// Transforms columns of eight coefficients of which the last four are zero.
static inline void transform_half(Lanes v[8], int shift) {
  Lanes zero = {0};
  WideLanes sum = add_number(products(v[0], 8192, zero, 0), 1 << (shift - 1));
  WideLanes outer = products(v[2], 10703, zero, 0), inner = products(v[2], 4433, zero, 0);
  WideLanes even[4] = {add(sum, outer), add(sum, inner), subtract(sum, inner), subtract(sum, outer)};
  WideLanes odd[4] = {products(v[1], 11363, v[3], 9633), products(v[1], 9633, v[3], -2259),
                      products(v[1], 6437, v[3], -11362), products(v[1], 2260, v[3], -6436)};
  combine(even, odd, shift, v);
}

/// Stores eight columns as rows of samples.
static inline void store_columns(const Lanes v[8], uint8_t *samples, size_t stride) {
  typedef uint16_t Pairs __attribute__((vector_size(16)));
  typedef uint32_t Fours __attribute__((vector_size(16)));
  Fours fours[2][2];
  for (int i = 0; i < 2; i++) {
    SampleLanes even = samples_of(v[4 * i], v[4 * i + 2]), odd = samples_of(v[4 * i + 1], v[4 * i + 3]);
    Pairs left = (Pairs)__builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    Pairs right =
        (Pairs)__builtin_shufflevector(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    fours[i][0] = (Fours)EVEN_LANES(left, right);
    fours[i][1] = (Fours)ODD_LANES(left, right);
  }
  for (int i = 0; i < 2; i++) {
    Fours rows[2] = {__builtin_shufflevector(fours[0][i], fours[1][i], 0, 4, 1, 5),
                     __builtin_shufflevector(fours[0][i], fours[1][i], 2, 6, 3, 7)};
    for (int y = 0; y < 4; y++) memcpy(samples + (size_t)(4 * i + y) * stride, (uint8_t *)rows + 8 * y, 8);
  }
}

/// Loads the rows of a block. Returns false if coefficients are too large.
static inline bool load_rows(Block block, Lanes rows[8]) {
  memcpy(rows, block.values, 64 * sizeof(int16_t));
  return block.extent->sum <= safeSum || (block.extent->sum <= INT16_MAX && have_small_sums(rows, 8, safeColumn));
}

/// Returns false if the results of the first pass are too large.
static inline bool rows_are_safe(Block block, const Lanes v[8]) {
  return block.extent->sum <= safeSum || have_small_sums(v, 8, safeRow);
}

/// Returns false if samples are too large.
static inline bool samples_are_safe(Block block, const Lanes *samples, int count) {
  return block.extent->sum <= safeSum || are_small(samples, count, safeSample);
}

/// Returns true if all coefficients are in the first four rows and columns, and are small.
static inline bool is_half(Block block) {
  return (block.extent->places & 044) == 0 && block.extent->sum <= safeSum;
}

/// Computes 8x8 samples. Returns false if coefficients are too large.
static inline bool invert_full(Block block, uint8_t *samples, size_t stride) {
  Lanes v[8];
  if (!load_rows(block, v)) return false;
  if (is_half(block)) {
    transform_half(v, constantBits - middleBits);
    transpose(v);
    transform_half(v, constantBits + middleBits + 3);
  } else {
    transform(v, constantBits - middleBits);
    transpose(v);
    if (!rows_are_safe(block, v)) return false;
    transform(v, constantBits + middleBits + 3);
    if (!samples_are_safe(block, v, 8)) return false;
  }
  store_columns(v, samples, stride);
  return true;
}

/// Computes the sums and the differences of the even and the odd part, of four numbers.
static inline void combine_to_4(WideLanes dc, WideLanes other, WideLanes outer, WideLanes inner, int shift,
                                Lanes out[4]) {
  WideLanes sum = add(dc, other), difference = subtract(dc, other);
  out[0] = narrow(add(sum, outer), shift);
  out[1] = narrow(add(difference, inner), shift);
  out[2] = narrow(subtract(difference, inner), shift);
  out[3] = narrow(subtract(sum, outer), shift);
}

/// Transforms columns of eight coefficients to four numbers.
static inline void transform_to_4(const Lanes v[8], int shift, Lanes out[4]) {
  Lanes zero = {0};
  WideLanes dc = add_number(products(v[0], 16384, zero, 0), 1 << (shift - 1));
  WideLanes other = products(v[2], 15137, v[6], -6270);
  WideLanes outer = add(products(v[1], 20995, v[3], 7373), products(v[5], -4926, v[7], -4176));
  WideLanes inner = add(products(v[1], 8697, v[3], -17799), products(v[5], 11893, v[7], -1730));
  combine_to_4(dc, other, outer, inner, shift, out);
}

/// Transforms columns of eight coefficients, of which the last four are zero, to four numbers.
static inline void transform_half_to_4(const Lanes v[8], int shift, Lanes out[4]) {
  Lanes zero = {0};
  WideLanes dc = add_number(products(v[0], 16384, zero, 0), 1 << (shift - 1));
  WideLanes other = products(v[2], 15137, zero, 0);
  combine_to_4(dc, other, products(v[1], 20995, v[3], 7373), products(v[1], 8697, v[3], -17799), shift, out);
}

/// Swaps rows and columns of which only the first `count` rows are not zero.
static inline void transpose_first(Lanes v[8], int count) {
  Lanes zero = {0};
  for (int i = count; i < 8; i++) v[i] = zero;
  transpose(v);
}

/// Stores four columns as rows of samples.
static inline void store_four_columns(const Lanes v[4], uint8_t *samples, size_t stride) {
  typedef uint16_t Pairs __attribute__((vector_size(16)));
  SampleLanes even = samples_of(v[0], v[2]), odd = samples_of(v[1], v[3]);
  Pairs left = (Pairs)__builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 0, 0, 0, 0, 0, 0, 0, 0);
  Pairs right = (Pairs)__builtin_shufflevector(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 0, 0, 0, 0, 0, 0, 0, 0);
  Pairs rows = EVEN_LANES(left, right);
  for (int y = 0; y < 4; y++) memcpy(samples + (size_t)y * stride, (uint8_t *)&rows + 4 * y, 4);
}

/// Computes 4x4 samples. Returns false if coefficients are too large.
static inline bool invert_to_4(Block block, uint8_t *samples, size_t stride) {
  Lanes v[8], out[4];
  if (!load_rows(block, v)) return false;
  if (is_half(block)) {
    transform_half_to_4(v, constantBits + 1 - middleBits, v);
    transpose_first(v, 4);
    transform_half_to_4(v, constantBits + 1 + middleBits + 3, out);
  } else {
    transform_to_4(v, constantBits + 1 - middleBits, v);
    transpose_first(v, 4);
    if (!rows_are_safe(block, v)) return false;
    transform_to_4(v, constantBits + 1 + middleBits + 3, out);
    if (!samples_are_safe(block, out, 4)) return false;
  }
  store_four_columns(out, samples, stride);
  return true;
}

/// Transforms columns of eight coefficients to two numbers.
static inline void transform_to_2(const Lanes v[8], int shift, Lanes out[2]) {
  WideLanes odd = add(products(v[1], 29692, v[3], -10426), products(v[5], 6967, v[7], -5906));
  // A factor of 32768 does not fit.
  WideLanes half = products(v[0], 16384, v[0], 0), even = add_number(add(half, half), 1 << (shift - 1));
  out[0] = narrow(add(even, odd), shift);
  out[1] = narrow(subtract(even, odd), shift);
}

/// Computes 2x2 samples. Returns false if coefficients are too large.
static inline bool invert_to_2(Block block, uint8_t *samples, size_t stride) {
  Lanes v[8], out[2];
  if (!load_rows(block, v)) return false;
  transform_to_2(v, constantBits + 2 - middleBits, v);
  transpose_first(v, 2);
  if (!rows_are_safe(block, v)) return false;
  transform_to_2(v, constantBits + 2 + middleBits + 3, out);
  if (!samples_are_safe(block, out, 2)) return false;
  SampleLanes all = samples_of(out[0], out[1]);
  for (int y = 0; y < 2; y++) {
    samples[(size_t)y * stride] = all[y];
    samples[(size_t)y * stride + 1] = all[8 + y];
  }
  return true;
}

/// Computes the samples of a block, two or more per side. Returns false if coefficients are too large. The literal
/// numbers make fast copies of `fill_samples`.
static inline bool invert(Block block, int side, uint8_t *samples, size_t stride) {
  bool isFlat = block.extent->places == 0 && block.extent->sum <= safeSum;
  switch (side) {
    case 8: return isFlat ? fill_samples(block, 8, samples, stride) : invert_full(block, samples, stride);
    case 4: return isFlat ? fill_samples(block, 4, samples, stride) : invert_to_4(block, samples, stride);
    default: return isFlat ? fill_samples(block, 2, samples, stride) : invert_to_2(block, samples, stride);
  }
}

#endif
