// Reads the coefficients of one block of a baseline JPEG file.

#ifndef CIMAGE_JPEG_COEFFICIENTS_H
#define CIMAGE_JPEG_COEFFICIENTS_H

#include "block.h"
#include "huffman.h"
#include "segment.h"

// The state of reading must stay in registers.
#define ALWAYS_INLINE __attribute__((always_inline))

/// The Huffman tables of a component, and how its coefficients are dequantized.
typedef struct BlockCodes {
  const HuffmanTable *dc, *ac;
  /// The DC coefficient of the last block.
  int32_t last;
  Dequantizer dequantizer;
} BlockCodes;

typedef enum BlockStatus { BlockContinues, BlockEnds, BlockIsInvalid } BlockStatus;

/// Returns the absolute value of the last coefficient of `symbols`, and -1 in `sign` if it is negative, else 0.
static inline uint32_t magnitude(uint64_t bits, Symbols symbols, uint32_t *sign) {
  bits <<= bits_before_last(symbols);
  uint64_t negative = (uint64_t)((int64_t)~bits >> 63);
  *sign = (uint32_t)negative;
  return (uint32_t)((bits ^ negative) >> 1 >> shift_of_last(symbols));
}

/// Adds the difference that is read to `*last`, the DC coefficient of the last block.
static inline bool read_dc(BitReader *reader, const HuffmanTable *table, int32_t *last) {
  Symbols symbols = table->lookUp[reader->bits >> (64 - lookUpBitsOfDC)];
  if (__builtin_expect(is_special(symbols), 0)) symbols = cimage_huffman_find(table, reader->bits);
  if (__builtin_expect(is_special(symbols), 0)) return false;
  uint32_t sign, size = magnitude(reader->bits, symbols, &sign);
  *last += (int32_t)((size ^ sign) - sign);
  drop_bits(reader, all_bits(symbols));
  return *last >= -INT16_MAX && *last <= INT16_MAX;
}

/// Stores the last coefficient of `symbols` like `put_ac`.
static inline void put_last(Block block, const Dequantizer *dequantizer, uint32_t index, uint64_t bits,
                            Symbols symbols) {
  uint32_t sign, product = magnitude(bits, symbols, &sign) * dequantizer->factors[index];
  uint32_t place = dequantizer->places[index];
  block.extent->sum += product;
  block.extent->places |= place;
  block.values[place] = (int16_t)((product ^ sign) - sign);
}

/// Returns the symbols that come next, of which at most the last one is beyond the coefficient `end`. Two symbols are
/// returned singly if the second one may be.
static inline Symbols next_symbols(const BitReader *reader, const HuffmanTable *table, uint32_t index, uint32_t end) {
  Symbols symbols = table->lookUp[reader->bits >> (64 - lookUpBits)];
  bool isRare = all_bits(symbols) == 0 || index + before_last(symbols) >= end;
  return __builtin_expect(isRare, 0) ? cimage_huffman_find(table, reader->bits) : symbols;
}

/// Reads one or two symbols, the first of which is for coefficient number `*index`. Without a block, they are skipped.
ALWAYS_INLINE static inline BlockStatus read_symbols(BitReader *reader, const BlockCodes *codes, Block block,
                                                     uint32_t *index) {
  Symbols symbols = next_symbols(reader, codes->ac, *index, 63);
  uint32_t first = *index + before_first(symbols), last = *index + before_last(symbols);
  if (__builtin_expect(is_special(symbols), 0)) {
    if (!ends_block(symbols)) return BlockIsInvalid;
    if (block.values != NULL) put_ac(block, &codes->dequantizer, first, first_value(symbols));
    drop_bits(reader, all_bits(symbols));
    return BlockEnds;
  }
  if (__builtin_expect(last > 63, 0)) return BlockIsInvalid;
  if (block.values != NULL) {
    put_ac(block, &codes->dequantizer, first, first_value(symbols));
    put_last(block, &codes->dequantizer, last, reader->bits, symbols);
  }
  drop_bits(reader, all_bits(symbols));
  *index = last + 1;
  return last == 63 ? BlockEnds : BlockContinues;
}

/// Reads the AC coefficients. Two look-ups take at most 52 bits.
ALWAYS_INLINE static inline BlockStatus read_ac(BitReader *reader, const BlockCodes *codes, Block block) {
  uint32_t index = 1;
  BlockStatus status;
  do {
    read_bits(reader);
    status = read_symbols(reader, codes, block, &index);
    if (status == BlockContinues) status = read_symbols(reader, codes, block, &index);
  } while (status == BlockContinues);
  return status;
}

/// Reads the coefficients of a block whose values are zero. Returns false if its data is not as it should be.
static inline bool read_block(BitReader *reader, BlockCodes *codes, Block block) {
  read_bits(reader);
  if (!read_dc(reader, codes->dc, &codes->last)) return false;
  put_dc(block, &codes->dequantizer, codes->last);
  return read_ac(reader, codes, block) == BlockEnds;
}

/// Reads only the DC coefficient of a block, into `codes->last`.
static inline bool skip_block(BitReader *reader, BlockCodes *codes) {
  read_bits(reader);
  return read_dc(reader, codes->dc, &codes->last) && read_ac(reader, codes, (Block){NULL, NULL}) == BlockEnds;
}

#endif
