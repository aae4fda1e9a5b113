// Vectors of eight 16-bit numbers, for the inverse DCT. The compiler turns them into instructions of the processor;
// only what it does poorly on x86 is written out.

#ifndef CIMAGE_JPEG_LANES_H
#define CIMAGE_JPEG_LANES_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef int16_t Lanes __attribute__((vector_size(16)));
typedef int32_t HalfLanes __attribute__((vector_size(16)));

/// Eight 32-bit numbers.
typedef struct WideLanes {
  HalfLanes low, high;
} WideLanes;

#define EVEN_LANES(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ODD_LANES(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

static inline WideLanes add(WideLanes a, WideLanes b) { return (WideLanes){a.low + b.low, a.high + b.high}; }
static inline WideLanes subtract(WideLanes a, WideLanes b) { return (WideLanes){a.low - b.low, a.high - b.high}; }
static inline WideLanes add_number(WideLanes a, int32_t b) { return (WideLanes){a.low + b, a.high + b}; }

/// Returns the sums of two products.
static inline WideLanes products(Lanes a, int16_t timesA, Lanes b, int16_t timesB) {
#if defined(__SSE2__)
  __m128i times = (__m128i)(Lanes){timesA, timesB, timesA, timesB, timesA, timesB, timesA, timesB};
  return (WideLanes){(HalfLanes)_mm_madd_epi16((__m128i)EVEN_LANES(a, b), times),
                     (HalfLanes)_mm_madd_epi16((__m128i)ODD_LANES(a, b), times)};
#else
  typedef int32_t Eight __attribute__((vector_size(32)));
  Eight sums = __builtin_convertvector(a, Eight) * timesA + __builtin_convertvector(b, Eight) * timesB;
  return (WideLanes){__builtin_shufflevector(sums, sums, 0, 1, 2, 3), __builtin_shufflevector(sums, sums, 4, 5, 6, 7)};
#endif
}

/// Divides by a power of two, rounds down, and narrows. The results must fit.
static inline Lanes narrow(WideLanes a, int shift) {
#if defined(__SSE2__)
  return (Lanes)_mm_packs_epi32((__m128i)(a.low >> shift), (__m128i)(a.high >> shift));
#else
  typedef int32_t Eight __attribute__((vector_size(32)));
  Eight all = __builtin_shufflevector(a.low >> shift, a.high >> shift, 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_convertvector(all, Lanes);
#endif
}

/// Returns two vectors as samples: their numbers plus 128, clamped to bytes.
typedef uint8_t SampleLanes __attribute__((vector_size(16)));

static inline SampleLanes samples_of(Lanes a, Lanes b) {
#if defined(__SSE2__)
  return (SampleLanes)_mm_packs_epi16((__m128i)a, (__m128i)b) ^ 0x80;
#else
  typedef int16_t Sixteen __attribute__((vector_size(32)));
  Sixteen all = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  Sixteen least = {0}, most = least + 255;
  all = __builtin_elementwise_min(__builtin_elementwise_max(all + 128, least), most);
  return __builtin_convertvector(all, SampleLanes);
#endif
}

/// Swaps the rows and columns of eight vectors.
static inline void transpose(Lanes rows[8]) {
  Lanes pairs[8];
  HalfLanes fours[8];
  for (int i = 0; i < 4; i++) {
    pairs[2 * i] = EVEN_LANES(rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = ODD_LANES(rows[2 * i], rows[2 * i + 1]);
  }
  for (int i = 0; i < 4; i++) {
    HalfLanes a = (HalfLanes)pairs[i / 2 * 4 + i % 2], b = (HalfLanes)pairs[i / 2 * 4 + i % 2 + 2];
    fours[2 * i] = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    fours[2 * i + 1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  }
  for (int i = 0; i < 4; i++) {
    rows[2 * i] = (Lanes)__builtin_shufflevector(fours[i], fours[i + 4], 0, 1, 4, 5);
    rows[2 * i + 1] = (Lanes)__builtin_shufflevector(fours[i], fours[i + 4], 2, 3, 6, 7);
  }
}

/// Returns true if in each lane the absolute values have a sum of at most `limit`, which is below 32767. None may be
/// -32768.
static inline int have_small_sums(const Lanes *values, int count, int16_t limit) {
  Lanes sum = {0};
  for (int i = 0; i < count; i++) sum = __builtin_elementwise_add_sat(sum, __builtin_elementwise_abs(values[i]));
  return __builtin_reduce_max(sum) <= limit;
}

/// Returns true if no absolute value is above `limit`. None may be -32768.
static inline int are_small(const Lanes *values, int count, int16_t limit) {
  Lanes most = {0};
  for (int i = 0; i < count; i++) most = __builtin_elementwise_max(most, __builtin_elementwise_abs(values[i]));
  return __builtin_reduce_max(most) <= limit;
}

#endif
