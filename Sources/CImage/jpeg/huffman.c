#include "huffman.h"

#include <string.h>

/// The most bits of the difference of two DC coefficients, and of an AC coefficient (ITU-T T.81, F.1.2).
enum { maxBitsOfDC = 11, maxBitsOfAC = 10 };

/// The most bits of a first value, so that it fits in a signed byte.
enum { maxBitsOfFirst = 7 };

static Symbols symbol_of(unsigned length, unsigned run, unsigned size) {
  return (Symbols)(length + size) | (Symbols)length << 8 | (Symbols)(63 - size) << 16 | (Symbols)run << 24 |
         (Symbols)run << 32;
}

/// Returns the meaning of a code of `length` bits. A run of 16 zeros is a coefficient of 0 after 15 zeros.
static Symbols meaning(unsigned length, uint8_t value, CodeUse use) {
  unsigned run = value >> 4, size = value & 15;
  if (use == CodesOfDC) return value <= maxBitsOfDC ? symbol_of(length, 0, value) : invalidSymbol;
  bool endsBlock = size == 0 && (use == CodesOfAC ? run == 0 : run < 15);
  if (endsBlock) return symbol_of(length, run, 0) | invalidSymbol | (Symbols)1 << 62;
  if (size > (use == CodesOfRefinement ? 1 : maxBitsOfAC) || (size == 0 && run != 15)) return invalidSymbol;
  return symbol_of(length, run, size);
}

/// Enters a code for all look-ups of `count` bits that begin with it.
static void enter(HuffmanTable *table, unsigned count, uint32_t code, unsigned length, Symbols symbols) {
  if (length > count) return;
  uint32_t first = code << (count - length), end = (code + 1) << (count - length);
  for (uint32_t bits = first; bits < end; bits++) table->lookUp[bits] = symbols;
}

/// Enters all codes, which are numbers in order (ITU-T T.81, annex C). Like libjpeg, rejects a code of ones only, and
/// differences of DC coefficients of more than 15 bits.
static bool enter_all(HuffmanTable *table, const JHUFF_TBL *codes, CodeUse use) {
  uint32_t code = 0, count = 0;
  unsigned bits = use == CodesOfDC ? lookUpBitsOfDC : lookUpBits;
  for (unsigned length = 1; length <= 16; length++, code <<= 1) {
    table->offsets[length] = (int32_t)count - (int32_t)code;
    for (unsigned i = 0; i < codes->bits[length]; i++, code++, count++) {
      if (count >= 256 || code + 1 >= 1u << length || (use == CodesOfDC && codes->huffval[count] > 15)) return false;
      table->symbols[count] = meaning(length, codes->huffval[count], use);
      enter(table, bits, code, length, table->symbols[count]);
    }
    table->limits[length] = code << (16 - length);
  }
  return true;
}

/// Returns the value that `size` bits after the first `start` bits of a look-up encode (ITU-T T.81, F.2.2.1).
static int value_in(uint32_t bits, unsigned start, unsigned size) {
  int value = (int)(bits >> (lookUpBits - start - size) & ((1u << size) - 1));
  return value >> (size - 1) != 0 ? value : value - (1 << size) + 1;
}

/// Returns the meaning of the bits of a look-up: the first symbol, and the second one if its code fits.
static Symbols joined(const Symbols *single, uint32_t bits) {
  Symbols first = single[bits];
  unsigned used = all_bits(first), size = 63 - shift_of_last(first);
  if (is_special(first) || used >= lookUpBits || size == 0 || size > maxBitsOfFirst) return first;
  Symbols second = single[bits << used & ((1u << lookUpBits) - 1)];
  unsigned length = bits_before_last(second);
  if (length == 0 || used + length > lookUpBits) return first;
  uint8_t value = (uint8_t)value_in(bits, bits_before_last(first), size);
  Symbols run = before_first(first), onlySecond = second & ~((Symbols)31 << 24);
  return onlySecond + (used | (Symbols)used << 8 | run << 24 | (run + 1) << 32 | (Symbols)value << 48);
}

bool cimage_huffman_init(HuffmanTable *table, const JHUFF_TBL *codes, CodeUse use) {
  size_t count = (size_t)1 << (use == CodesOfDC ? lookUpBitsOfDC : lookUpBits);
  for (size_t bits = 0; bits < count; bits++) table->lookUp[bits] = invalidSymbol;
  if (!enter_all(table, codes, use)) return false;
  // Between the symbols of a refinement are bits of other coefficients.
  if (use == CodesOfDC || use == CodesOfRefinement) return true;
  Symbols single[1 << lookUpBits];
  memcpy(single, table->lookUp, sizeof single);
  for (uint32_t bits = 0; bits < 1 << lookUpBits; bits++) table->lookUp[bits] = joined(single, bits);
  return true;
}

Symbols cimage_huffman_find(const HuffmanTable *table, uint64_t bits) {
  uint32_t top = (uint32_t)(bits >> 48);
  for (int length = 1; length <= 16; length++) {
    if (top < table->limits[length]) return table->symbols[(int32_t)(top >> (16 - length)) + table->offsets[length]];
  }
  return invalidSymbol;
}
