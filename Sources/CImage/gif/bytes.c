// Writes the bytes of GIF files, and compresses the data of their frames by LZW (GIF89a, appendix F).

#include "bytes.h"

#include <stdlib.h>
#include <string.h>

// MARK: Bytes

static bool make_room(GIFBytes *file, size_t count) {
  if (file->capacity - file->count >= count) return true;
  size_t capacity = file->capacity + file->capacity / 2 + count + 4096;
  uint8_t *bytes = file->hasFailed ? NULL : realloc(file->bytes, capacity);
  file->hasFailed = bytes == NULL;
  if (file->hasFailed) return false;
  file->bytes = bytes;
  file->capacity = capacity;
  return true;
}

void cimage_gif_put(GIFBytes *file, const void *bytes, size_t count) {
  if (!make_room(file, count)) return;
  memcpy(file->bytes + file->count, bytes, count);
  file->count += count;
}

void cimage_gif_put_byte(GIFBytes *file, int32_t byte) { cimage_gif_put(file, &(uint8_t){(uint8_t)byte}, 1); }

void cimage_gif_put_short(GIFBytes *file, int32_t number) {
  cimage_gif_put(file, (uint8_t[]){(uint8_t)number, (uint8_t)(number >> 8)}, 2);
}

// MARK: Codes

enum { mostCodes = 4096, slots = 1 << 14, mostBytes = 255 };

/// An encoder of LZW: the strings of indices that have a code, and the bytes of the sub-block that is being filled.
typedef struct Encoder {
  GIFBytes *file;
  /// The code that clears the table. The next one ends the data.
  int32_t clear;
  /// The number of codes in use, and the number of bits of the next one.
  int32_t next, width;
  uint8_t block[mostBytes];
  int32_t filled;
  /// The bits that do not fill a byte yet, the first one lowest.
  uint32_t bits;
  int32_t bitCount;
  /// The table: the code of a string without its last index, and that index; the code of the whole string. An empty
  /// slot has the code 0, which no string of several indices has.
  uint32_t keys[slots];
  uint16_t codes[slots];
} Encoder;

static void put_block(Encoder *self) {
  if (self->filled == 0) return;
  cimage_gif_put_byte(self->file, self->filled);
  cimage_gif_put(self->file, self->block, (size_t)self->filled);
  self->filled = 0;
}

static void put_byte(Encoder *self) {
  self->block[self->filled++] = (uint8_t)self->bits;
  if (self->filled == mostBytes) put_block(self);
  self->bits >>= 8;
}

static void put_code(Encoder *self, int32_t code) {
  self->bits |= (uint32_t)code << self->bitCount;
  for (self->bitCount += self->width; self->bitCount >= 8; self->bitCount -= 8) put_byte(self);
}

static void clear_table(Encoder *self) {
  put_code(self, self->clear);
  memset(self->codes, 0, sizeof self->codes);
  self->next = self->clear + 2;
  self->width = 1;
  while (1 << self->width < self->next) self->width++;
}

/// Counts a new code. A decoder learns it one code later, so the width grows one code after the largest that fits.
static void count_code(Encoder *self) {
  self->next++;
  if (self->next > 1 << self->width) self->width++;
}

/// Returns the slot of a string, or the empty one where it belongs. A quarter of the slots are used at most.
static size_t slot_of(const Encoder *self, uint32_t key) {
  size_t slot = key * 2654435761u >> 18;
  while (self->codes[slot] != 0 && self->keys[slot] != key) slot = (slot + 1) % slots;
  return slot;
}

/// Ends the string with the code `prefix`, because the one that has `index` as well has no code, and gives it one.
static void end_string(Encoder *self, int32_t prefix, size_t slot, uint32_t key) {
  put_code(self, prefix);
  if (self->next == mostCodes) return clear_table(self);
  self->keys[slot] = key;
  self->codes[slot] = (uint16_t)self->next;
  count_code(self);
}

static void put_codes(Encoder *self, const uint8_t *indices, size_t count) {
  int32_t prefix = indices[0];
  for (size_t i = 1; i < count; i++) {
    uint32_t key = (uint32_t)prefix << 8 | indices[i];
    size_t slot = slot_of(self, key);
    if (self->codes[slot] != 0) {
      prefix = self->codes[slot];
    } else {
      end_string(self, prefix, slot, key);
      prefix = indices[i];
    }
  }
  put_code(self, prefix);
  if (self->next < mostCodes) count_code(self);
}

void cimage_gif_put_data(GIFBytes *file, const uint8_t *indices, size_t count, int32_t bits) {
  int32_t size = bits < 2 ? 2 : bits;
  cimage_gif_put_byte(file, size);
  Encoder *self = malloc(sizeof *self);
  if (self == NULL) {
    file->hasFailed = true;
    return;
  }
  self->file = file;
  self->clear = 1 << size;
  self->width = size + 1;
  self->filled = self->bitCount = 0;
  self->bits = 0;
  clear_table(self);
  put_codes(self, indices, count);
  put_code(self, self->clear + 1);
  if (self->bitCount > 0) put_byte(self);
  put_block(self);
  cimage_gif_put_byte(file, 0);
  free(self);
}
