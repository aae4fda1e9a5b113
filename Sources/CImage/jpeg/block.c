#include "block.h"

/// The order of coefficients in a file (ITU-T T.81, figure A.6): their places in a block.
static const uint8_t zigzag[64] = {
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47,
  55, 62, 63,
};

/// Returns true if the inverse DCT to `side` samples uses coefficients with this number in one direction.
static bool is_used(int number, int side) {
  return side == 8 || number == 0 || (side == 4 && number != 4) || (side == 2 && number % 2 == 1);
}

bool cimage_dequantizer_init(Dequantizer *dequantizer, j_decompress_ptr cinfo, const jpeg_component_info *component) {
  int side = SAMPLES_ACROSS(component), number = component->quant_tbl_no;
  if (side != SAMPLES_DOWN(component) || (side != 1 && side != 2 && side != 4 && side != 8)) return false;
  if (number >= NUM_QUANT_TBLS || cinfo->quant_tbl_ptrs[number] == NULL) return false;
  for (int i = 0; i < 64; i++) {
    int place = zigzag[i];
    UINT16 factor = cinfo->quant_tbl_ptrs[number]->quantval[place];
    if (factor == 0 || factor > UINT8_MAX) return false;
    bool isUsed = is_used(place % 8, side) && is_used(place / 8, side);
    dequantizer->factors[i] = isUsed ? (uint8_t)factor : 0;
    dequantizer->places[i] = (uint8_t)place;
  }
  return true;
}
