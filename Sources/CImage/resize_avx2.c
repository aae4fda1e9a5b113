#include "resize_avx2.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

bool cimage_has_avx2(void) { return __builtin_cpu_supports("avx2"); }

/// Returns a vector that repeats two adjacent weights.
AVX2 static inline __m256i pair_of(const int16_t *weights) {
  int32_t both;
  memcpy(&both, weights, sizeof both);
  return _mm256_set1_epi32(both);
}

AVX2 static inline __m256i load(const uint8_t *bytes) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)bytes));
}

/// Filters 16 adjacent columns. One multiplication handles two source rows.
AVX2 static inline __m256i filter_block(const uint8_t *top, size_t stride, Taps taps, const int16_t *weights) {
  __m256i low = _mm256_set1_epi32(1 << (weightBits - middleBits - 1)), high = low;
  int32_t k = 0;
  for (; k + 2 <= taps.count; k += 2, top += 2 * stride) {
    __m256i first = load(top), second = load(top + stride), pair = pair_of(weights + k);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(first, second), pair));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(first, second), pair));
  }
  if (k < taps.count) {
    __m256i last = load(top), zero = _mm256_setzero_si256(), weight = _mm256_set1_epi32((uint16_t)weights[k]);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(last, zero), weight));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(last, zero), weight));
  }
  // Packing restores the order within each lane, because unpacking split it the same way.
  return _mm256_packs_epi32(_mm256_srai_epi32(low, weightBits - middleBits),
                            _mm256_srai_epi32(high, weightBits - middleBits));
}

/// Stores `band` rows of 16 samples as 16 columns of `band` samples.
AVX2 static inline void store_transposed(const __m256i row[band], int16_t *middle) {
  __m256i pairs[band], fours[band];
  for (int i = 0; i < 4; i++) {
    pairs[2 * i] = _mm256_unpacklo_epi16(row[2 * i], row[2 * i + 1]);
    pairs[2 * i + 1] = _mm256_unpackhi_epi16(row[2 * i], row[2 * i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    for (int half = 0; half < 2; half++) {
      fours[4 * i + 2 * half] = _mm256_unpacklo_epi32(pairs[4 * i + half], pairs[4 * i + 2 + half]);
      fours[4 * i + 2 * half + 1] = _mm256_unpackhi_epi32(pairs[4 * i + half], pairs[4 * i + 2 + half]);
    }
  }
  for (int i = 0; i < 4; i++) {
    __m256i even = _mm256_unpacklo_epi64(fours[i], fours[i + 4]), odd = _mm256_unpackhi_epi64(fours[i], fours[i + 4]);
    _mm_storeu_si128((__m128i *)(middle + 2 * i * band), _mm256_castsi256_si128(even));
    _mm_storeu_si128((__m128i *)(middle + (2 * i + 1) * band), _mm256_castsi256_si128(odd));
    _mm_storeu_si128((__m128i *)(middle + (2 * i + 8) * band), _mm256_extracti128_si256(even, 1));
    _mm_storeu_si128((__m128i *)(middle + (2 * i + 9) * band), _mm256_extracti128_si256(odd, 1));
  }
}

/// Returns the start of the next block. The last block overlaps the one before it instead of extending past the end.
static inline size_t next_block(size_t x, size_t byteCount) {
  return x + avx2Block > byteCount ? byteCount - avx2Block : x;
}

AVX2 void cimage_filter_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                     const int16_t *weights, size_t byteCount, int16_t *middle) {
  for (size_t x = 0; x < byteCount; x += avx2Block) {
    x = next_block(x, byteCount);
    __m256i filtered[band];
    for (int r = 0; r < band; r++) {
      filtered[r] = filter_block(rows[r] + x, stride, taps[r], weights + taps[r].offset);
    }
    store_transposed(filtered, middle + x * band);
  }
}

// MARK: One channel

/// Stores `band` rows of 8 pairs as 8 columns of `band` pairs.
AVX2 static inline void store_pairs(const __m256i row[band], int16_t *middle) {
  __m256i twos[band], fours[band];
  for (int i = 0; i < 4; i++) {
    twos[2 * i] = _mm256_unpacklo_epi32(row[2 * i], row[2 * i + 1]);
    twos[2 * i + 1] = _mm256_unpackhi_epi32(row[2 * i], row[2 * i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    for (int half = 0; half < 2; half++) {
      fours[4 * i + 2 * half] = _mm256_unpacklo_epi64(twos[4 * i + half], twos[4 * i + 2 + half]);
      fours[4 * i + 2 * half + 1] = _mm256_unpackhi_epi64(twos[4 * i + half], twos[4 * i + 2 + half]);
    }
  }
  __m256i *out = (__m256i *)middle;
  for (int i = 0; i < 4; i++) {
    _mm256_storeu_si256(out + i, _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20));
    _mm256_storeu_si256(out + i + 4, _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31));
  }
}

/// Filters the last of an odd number of columns, which has no partner.
static void filter_last_column(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                               const int16_t *weights, size_t x, int16_t *middle) {
  for (int r = 0; r < band; r++) {
    int32_t sum = 0;
    for (int32_t k = 0; k < taps[r].count; k++) {
      sum += weights[taps[r].offset + (size_t)k] * rows[r][x + (size_t)k * stride];
    }
    middle[(x / 2 * band + (size_t)r) * 2] = to_middle(sum);
  }
}

AVX2 void cimage_filter_gray_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                          const int16_t *weights, size_t byteCount, int16_t *middle) {
  // Pairs begin with an even column.
  size_t even = byteCount / 2 * 2;
  for (size_t x = 0; x < even; x += avx2Block) {
    x = next_block(x, even);
    __m256i filtered[band];
    for (int r = 0; r < band; r++) {
      filtered[r] = filter_block(rows[r] + x, stride, taps[r], weights + taps[r].offset);
    }
    store_pairs(filtered, middle + x * band);
  }
  if (even < byteCount) filter_last_column(rows, stride, taps, weights, even, middle);
}

/// Filters one target sample of each row of the band; the caller saturates the results to bytes.
AVX2 static inline __m256i filter_pairs(const int16_t *middle, int32_t first, Taps taps, const int16_t *weights) {
  // If the first sample is odd, its pair begins with the sample before it, whose weight is zero.
  int32_t odd = taps.first & 1;
  const __m256i *pairs = (const __m256i *)(middle + (size_t)(taps.first - odd - first) * band);
  const int16_t *weight = weights + taps.offset - odd;
  __m256i sum = _mm256_set1_epi32(1 << (weightBits + middleBits - 1));
  for (int32_t k = 0; k < taps.count + odd; k += 2) {
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_loadu_si256(pairs++), pair_of(weight + k)));
  }
  return _mm256_srai_epi32(sum, weightBits + middleBits);
}

/// Stores four columns of `band` samples as four samples in each of `count` rows.
AVX2 static inline void store_rows(const __m256i column[avx2Columns], uint8_t *target, size_t stride, int32_t count) {
  __m256i bytes =
      _mm256_packus_epi16(_mm256_packs_epi32(column[0], column[1]), _mm256_packs_epi32(column[2], column[3]));
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  uint32_t rows[band];
  _mm256_storeu_si256((__m256i *)rows, _mm256_shuffle_epi8(bytes, order));
  for (int32_t r = 0; r < count; r++) memcpy(target + (size_t)r * stride, &rows[r], sizeof rows[r]);
}

AVX2 void cimage_filter_gray_rows_avx2(const int16_t *middle, int32_t first, const CImageKernel *across,
                                       uint8_t *target, size_t stride, int32_t width, int32_t count) {
  for (int32_t x = 0; x < width; x += avx2Columns) {
    if (x + avx2Columns > width) x = width - avx2Columns;
    __m256i column[avx2Columns];
    for (int32_t i = 0; i < avx2Columns; i++) {
      column[i] = filter_pairs(middle, first, across->taps[x + i], across->weights);
    }
    store_rows(column, target + x, stride, count);
  }
}

#else

bool cimage_has_avx2(void) { return false; }

void cimage_filter_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                const int16_t *weights, size_t byteCount, int16_t *middle) {
  (void)rows, (void)stride, (void)taps, (void)weights, (void)byteCount, (void)middle;
}

void cimage_filter_gray_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                     const int16_t *weights, size_t byteCount, int16_t *middle) {
  (void)rows, (void)stride, (void)taps, (void)weights, (void)byteCount, (void)middle;
}

void cimage_filter_gray_rows_avx2(const int16_t *middle, int32_t first, const CImageKernel *across, uint8_t *target,
                                  size_t stride, int32_t width, int32_t count) {
  (void)middle, (void)first, (void)across, (void)target, (void)stride, (void)width, (void)count;
}

#endif
