#include "reader.h"

#include <string.h>

// Limits on chunks. Ordinary files of any size have few and short ones; these stop files made to exhaust memory.
enum { maxChunkBytes = 8 << 20, maxKeptChunks = 128 };

/// The number of bytes of image data that are read at once if the file may be truncated.
enum { smallRead = 16 };

static uint32_t get32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool is_letter(uint8_t byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

/// Returns true for the name of an ancillary chunk, of which a byte is not a letter. Decoders ignore ancillary chunks
/// that they do not know (PNG, section 5.4), but libpng fails.
static bool is_odd(const uint8_t *name) {
  bool isName = is_letter(name[1]) && is_letter(name[2]) && is_letter(name[3]);
  return is_letter(name[0]) && (name[0] & 0x20) != 0 && !isName;
}

/// Passes the chunks with odd names before the next chunk, whose beginning libpng reads next.
static void pass_odd_chunks(PNGReader *self) {
  while (self->left >= 12 && is_odd(self->next + 4) && get32(self->next) <= self->left - 12) {
    size_t count = (size_t)get32(self->next) + 12;
    self->next += count;
    self->left -= count;
  }
  size_t length = self->left >= 8 ? get32(self->next) : 0;
  self->chunk = length <= self->left ? self->next + 12 + length : NULL;
}

static void take(png_structp png, png_bytep bytes, size_t count) {
  PNGReader *self = png_get_io_ptr(png);
  if (count == 8 && self->next == self->chunk) pass_odd_chunks(self);
  if (count > self->budget) {
    // The budget is limited only once the last row is decoded.
    self->isComplete = true;
    png_error(png, "the PNG file's image data continues after its last row");
  }
  self->budget -= count;
  if (count > self->left) {
    self->errors.status = CImageStatusTruncated;
    png_error(png, "the PNG file ends before its image data does");
  }
  memcpy(bytes, self->next, count);
  self->next += count;
  self->left -= count;
}

bool cimage_png_has_end(const PNGReader *self) {
  return self->left >= 12 && memcmp(self->next + self->left - 8, "IEND", 4) == 0;
}

static void set_limits(PNGReader *self, int32_t width, int32_t height) {
  png_set_user_limits(self->png, (png_uint_32)width, (png_uint_32)height);
  png_set_chunk_malloc_max(self->png, maxChunkBytes);
  png_set_chunk_cache_max(self->png, maxKeptChunks);
  png_set_benign_errors(self->png, 1);
  // Unused chunks are skipped, because libpng would allocate as much memory as they claim to need.
  static const png_byte idle[] = "bKGD\0eXIf\0hIST\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0tEXt\0tIME\0zTXt";
  png_set_keep_unknown_chunks(self->png, PNG_HANDLE_CHUNK_NEVER, idle, sizeof idle / 5);
}

bool cimage_png_open(PNGReader *self, const uint8_t *bytes, size_t count, CImageMessages *messages) {
  memset(self, 0, sizeof *self);
  self->errors.messages = messages;
  self->next = bytes;
  self->left = count;
  // The signature, and the chunk with four bytes.
  enum { appleStart = 8 + 16 };
  self->isApple = count >= appleStart && get32(bytes + 8) == 4 && memcmp(bytes + 12, "CgBI", 4) == 0;
  if (self->isApple) {
    self->next += appleStart;
    self->left -= appleStart;
  }
  self->chunk = self->isApple ? self->next : count >= 8 ? bytes + 8 : NULL;
  self->budget = SIZE_MAX;
  self->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &self->errors, cimage_png_error, cimage_png_warning,
                                       &self->errors, cimage_png_malloc, cimage_png_free);
  self->info = self->png != NULL ? png_create_info_struct(self->png) : NULL;
  return self->info != NULL;
}

void cimage_png_read_header(PNGReader *self, int32_t width, int32_t height) {
  png_set_read_fn(self->png, self, take);
  if (self->isApple) png_set_sig_bytes(self->png, 8);
  // libpng decodes nothing of data that it cannot read completely.
  if (!cimage_png_has_end(self)) png_set_compression_buffer_size(self->png, smallRead);
  set_limits(self, width, height);
  png_read_info(self->png, self->info);
}

void cimage_png_close(PNGReader *self) { png_destroy_read_struct(&self->png, &self->info, NULL); }
