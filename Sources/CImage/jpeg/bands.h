// Reads the part of one block that a scan of a progressive JPEG file has (ITU-T T.81, G.1.2).

#ifndef CIMAGE_JPEG_BANDS_H
#define CIMAGE_JPEG_BANDS_H

#include "coefficients.h"

/// The coefficients of a scan, as numbers in the order of the file, the number of their low bits that later scans have,
/// and the table of their codes.
typedef struct Band {
  const HuffmanTable *table;
  uint32_t first, last;
  int shift;
  /// The number of blocks, with the current one, without more symbols.
  uint32_t ended;
} Band;

/// The coefficients of a block so far. Only those are kept that the inverse DCT uses.
typedef struct StoredBlock {
  int16_t *values;
  /// One bit for each coefficient that is not zero, in the order of the file.
  uint64_t *present;
  /// The place of each coefficient in `values`. Unused ones share the last place, whose value means nothing.
  const uint8_t *slots;
} StoredBlock;

static inline void store(StoredBlock block, uint32_t index, int32_t value) {
  block.values[block.slots[index]] = (int16_t)value;
  *block.present |= (uint64_t)(value != 0) << index;
}

/// Reads the number of blocks that end at once, which has `count` bits below its highest one.
static inline void read_ended(BitReader *reader, Band *band, unsigned count) {
  band->ended = 1u << count;
  if (count > 0) band->ended += (uint32_t)(reader->bits >> (64 - count));
  drop_bits(reader, count);
}

/// Reads the last symbol of a block, with which it ends, and perhaps a coefficient before it.
static inline bool read_end(BitReader *reader, Band *band, StoredBlock block, uint32_t index, Symbols symbols) {
  unsigned count = before_last(symbols);
  if (!ends_block(symbols)) return false;
  if (first_value(symbols) != 0) {
    index += before_first(symbols);
    if (index > band->last) return false;
    store(block, index, first_value(symbols) * (1 << band->shift));
    count -= before_first(symbols) + 1;
  }
  drop_bits(reader, all_bits(symbols));
  read_ended(reader, band, count);
  return true;
}

/// Reads the high bits of the coefficients of a block that has symbols.
static inline bool read_high_bits(BitReader *reader, Band *band, StoredBlock block) {
  uint32_t index = band->first, sign;
  while (index <= band->last) {
    read_bits(reader);
    Symbols symbols = next_symbols(reader, band->table, index, band->last);
    if (is_special(symbols)) return read_end(reader, band, block, index, symbols);
    uint32_t last = index + before_last(symbols);
    if (__builtin_expect(last > band->last, 0)) return false;
    if (first_value(symbols) != 0) {
      store(block, index + before_first(symbols), first_value(symbols) * (1 << band->shift));
    }
    uint32_t size = magnitude(reader->bits, symbols, &sign);
    store(block, last, (int32_t)((size ^ sign) - sign) * (1 << band->shift));
    drop_bits(reader, all_bits(symbols));
    index = last + 1;
  }
  return true;
}

/// Reads one more bit of each of the `known` coefficients up to the new one at `place`, and removes them from `known`.
/// Each of them moves the new one to the next place. Returns its place.
static inline uint32_t correct(BitReader *reader, const Band *band, StoredBlock block, uint64_t *known,
                               uint32_t place) {
  while (*known != 0 && (uint32_t)__builtin_ctzll(*known) <= place) {
    int16_t *value = &block.values[block.slots[__builtin_ctzll(*known)]];
    if (reader->count == 0) read_bits(reader);
    int32_t bit = (int32_t)(reader->bits >> 63) << band->shift, sign = *value >> 15;
    *value = (int16_t)(*value + ((bit ^ sign) - sign));
    drop_bits(reader, 1);
    *known &= *known - 1;
    place += 1;
  }
  return place;
}

/// Reads the next symbol of a refinement, which has no other one joined.
static inline Symbols next_symbol(const BitReader *reader, const Band *band) {
  Symbols symbol = band->table->lookUp[reader->bits >> (64 - lookUpBits)];
  return all_bits(symbol) == 0 ? cimage_huffman_find(band->table, reader->bits) : symbol;
}

/// Reads one more bit of the coefficients of a block, and those that were zero.
static inline bool read_low_bits(BitReader *reader, Band *band, StoredBlock block) {
  uint64_t known = *block.present & UINT64_MAX << band->first & UINT64_MAX >> (63 - band->last);
  uint32_t index = band->first, sign;
  read_bits(reader);
  while (band->ended == 0 && index <= band->last) {
    Symbols symbol = next_symbol(reader, band);
    if (is_special(symbol)) {
      if (!read_end(reader, band, block, index, symbol)) return false;
      continue;
    }
    uint32_t size = magnitude(reader->bits, symbol, &sign);
    drop_bits(reader, all_bits(symbol));
    uint32_t place = correct(reader, band, block, &known, index + before_last(symbol));
    if (place > band->last) return false;
    store(block, place, (int32_t)((size ^ sign) - sign) * (1 << band->shift));
    index = place + 1;
    read_bits(reader);
  }
  if (band->ended > 0) correct(reader, band, block, &known, band->last);
  return true;
}

#endif
