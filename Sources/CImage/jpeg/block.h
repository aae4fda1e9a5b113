// A block of dequantized coefficients, as the inverse DCT takes it.

#ifndef CIMAGE_JPEG_BLOCK_H
#define CIMAGE_JPEG_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "error.h"

/// Dequantizes the coefficients of a component: for each one in the order of the file, its factor, 0 if the inverse DCT
/// does not use it, and its place in the block.
typedef struct Dequantizer {
  uint8_t factors[64], places[64];
} Dequantizer;

/// Prepares dequantizing the blocks of a component. Returns false if the table is missing or a factor is beyond 8 bits,
/// or if the blocks do not become squares of 1, 2, 4 or 8 samples per side.
bool cimage_dequantizer_init(Dequantizer *dequantizer, j_decompress_ptr cinfo, const jpeg_component_info *component);

/// The size of the coefficients of a block, and where they are. They are apart, so that this stays in registers.
typedef struct Extent {
  /// The sum of the absolute values of the coefficients.
  uint32_t sum;
  /// The disjunction of the places of all AC coefficients that may not be zero.
  uint32_t places;
} Extent;

/// The dequantized coefficients of a block, row by row, and their extent.
typedef struct Block {
  int16_t *values;
  Extent *extent;
} Block;

/// Stores the DC coefficient.
static inline void put_dc(Block block, const Dequantizer *dequantizer, int32_t value) {
  int32_t product = value * dequantizer->factors[0];
  block.extent->sum = (uint32_t)abs(product);
  block.extent->places = 0;
  block.values[0] = (int16_t)product;
}

/// Stores an AC coefficient, after the DC coefficient. A value of 0 stands for none. If a product does not fit in 16
/// bits, the sum does not, either.
static inline void put_ac(Block block, const Dequantizer *dequantizer, uint32_t index, int32_t value) {
  int32_t product = value * dequantizer->factors[index];
  uint32_t place = dequantizer->places[index];
  block.extent->sum += (uint32_t)abs(product);
  block.extent->places |= value != 0 ? place : 0;
  block.values[place] = (int16_t)product;
}

#endif
