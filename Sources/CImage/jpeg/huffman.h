// The Huffman codes of a JPEG file. One look-up decodes up to two symbols of a block.

#ifndef CIMAGE_JPEG_HUFFMAN_H
#define CIMAGE_JPEG_HUFFMAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <jpeglib.h>

/// The number of bits of a look-up. With one more, the two tables of AC codes would fill a first-level cache of 32 KiB.
/// Codes of DC coefficients are shorter.
enum { lookUpBits = 10, lookUpBitsOfDC = 9 };

/// The meaning of the next bits of a block: a coefficient, whose value follows its code; or two of them, if the first
/// one with its value and the code of the second one are short. From the lowest bit:
///
/// - 6 bits: the number of bits of all codes and values, 0 if the code is longer than a look-up or invalid
/// - at 8, 6 bits: the number of bits before the last value
/// - at 16, 6 bits: 63 minus the number of bits of the last value
/// - at 24, 5 bits: the number of coefficients before the first one, at 32, 6 bits: before the last one
/// - at 48, a signed byte: the value of the first one; 0 if there is only one
/// - at 62: 1 if the last symbol is the end of the block, at 63: 1 if it is not a coefficient
///
/// In a progressive file, one symbol ends several blocks. In place of the number of coefficients before it, it has the
/// number of bits that follow it.
typedef uint64_t Symbols;

static inline unsigned all_bits(Symbols symbols) { return symbols & 63; }
static inline unsigned bits_before_last(Symbols symbols) { return symbols >> 8 & 63; }
static inline unsigned shift_of_last(Symbols symbols) { return symbols >> 16 & 63; }
static inline unsigned before_first(Symbols symbols) { return symbols >> 24 & 31; }
static inline unsigned before_last(Symbols symbols) { return symbols >> 32 & 63; }
static inline int first_value(Symbols symbols) { return (int8_t)(symbols >> 48); }
static inline bool ends_block(Symbols symbols) { return symbols >> 62 & 1; }
static inline bool is_special(Symbols symbols) { return (int64_t)symbols < 0; }

static const Symbols invalidSymbol = (Symbols)1 << 63;

/// The use of codes: for DC coefficients; for AC coefficients; for the first bits of a band of AC coefficients in a
/// progressive file; or for one more bit of them.
typedef enum CodeUse { CodesOfDC, CodesOfAC, CodesOfBand, CodesOfRefinement } CodeUse;

typedef struct HuffmanTable {
  Symbols lookUp[1 << lookUpBits];
  /// For each length of codes, the first 16 bits above those that begin with a code of that length or less, and the
  /// number of the first code of that length minus the code.
  uint32_t limits[17];
  int32_t offsets[17];
  Symbols symbols[256];
} HuffmanTable;

/// Prepares the codes. Returns false if the table is invalid.
bool cimage_huffman_init(HuffmanTable *table, const JHUFF_TBL *codes, CodeUse use);

/// Returns the next symbol alone; `invalidSymbol` if the code is invalid.
Symbols cimage_huffman_find(const HuffmanTable *table, uint64_t bits);

#endif
