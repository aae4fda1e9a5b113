#include "resize_avx2.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

bool cimage_has_avx2(void) { return __builtin_cpu_supports("avx2"); }

/// Two weights, side by side, as often as they fit.
AVX2 static inline __m256i pair_of(const int16_t *weights) {
  int32_t both;
  memcpy(&both, weights, sizeof both);
  return _mm256_set1_epi32(both);
}

AVX2 static inline __m256i load(const uint8_t *bytes) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)bytes));
}

/// 16 bytes of a column, filtered: one multiplication takes two source rows.
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
  // Unpacking took every lane apart in the same way as packing puts it together.
  return _mm256_packs_epi32(_mm256_srai_epi32(low, weightBits - middleBits),
                            _mm256_srai_epi32(high, weightBits - middleBits));
}

/// `band` rows of 16 samples become 16 columns of `band` samples.
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

AVX2 void cimage_filter_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                     const int16_t *weights, size_t byteCount, int16_t *middle) {
  for (size_t x = 0; x < byteCount; x += avx2Block) {
    // The last block reaches back over the one before it.
    if (x + avx2Block > byteCount) x = byteCount - avx2Block;
    __m256i filtered[band];
    for (int r = 0; r < band; r++) {
      filtered[r] = filter_block(rows[r] + x, stride, taps[r], weights + taps[r].offset);
    }
    store_transposed(filtered, middle + x * band);
  }
}

#else

bool cimage_has_avx2(void) { return false; }

void cimage_filter_columns_avx2(const uint8_t *const rows[band], size_t stride, const Taps taps[band],
                                const int16_t *weights, size_t byteCount, int16_t *middle) {
  (void)rows, (void)stride, (void)taps, (void)weights, (void)byteCount, (void)middle;
}

#endif
