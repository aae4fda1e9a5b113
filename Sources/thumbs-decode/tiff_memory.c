// Lets libtiff read a file in memory, and receives its messages.

#include "formats.h"

#if __has_include(<tiffio.h>)

#include "tiff_memory.h"

#include <stdio.h>
#include <string.h>

/// The memory of a block of libtiff: that of the pixels with four samples of 16 bits, and some for small images.
enum { bytesPerPixel = 8, smallBytes = 16 << 20 };

static tmsize_t read_bytes(thandle_t handle, void *bytes, tmsize_t count) {
  TIFFMemory *memory = handle;
  size_t left = memory->position < memory->source.count ? memory->source.count - (size_t)memory->position : 0;
  if (count < 0) return -1;
  if ((size_t)count > left) {
    memory->isShort = true;
    count = (tmsize_t)left;
  }
  if (count == 0) return 0;
  memcpy(bytes, memory->source.bytes + memory->position, (size_t)count);
  memory->position += (uint64_t)count;
  return count;
}

static tmsize_t write_bytes(thandle_t handle, void *bytes, tmsize_t count) {
  (void)handle, (void)bytes, (void)count;
  return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int origin) {
  TIFFMemory *memory = handle;
  if (origin == SEEK_CUR) offset += memory->position;
  if (origin == SEEK_END) offset += memory->source.count;
  return memory->position = offset;
}

static toff_t size_of(thandle_t handle) {
  return ((TIFFMemory *)handle)->source.count;
}

static int close_file(thandle_t handle) {
  (void)handle;
  return 0;
}

/// Gives libtiff the file itself, so that it reads without copying, if the mode of opening allows that.
static int map_file(thandle_t handle, void **base, toff_t *size) {
  TIFFMemory *memory = handle;
  *base = (void *)(uintptr_t)memory->source.bytes;
  *size = memory->source.count;
  return 1;
}

static void unmap_file(thandle_t handle, void *base, toff_t size) {
  (void)handle, (void)base, (void)size;
}

/// Takes the first error, which has the cause of those that follow. `user` is the file.
static int receive_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  DecodeText *text = ((TIFFMemory *)user)->text;
  (void)tiff, (void)module;
  if (text->error[0] == 0) vsnprintf(text->error, sizeof text->error, format, arguments);
  return 1;
}

/// Takes a warning. Tags that libtiff does not know are common and harmless.
static int receive_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  char line[160];
  (void)tiff, (void)module;
  vsnprintf(line, sizeof line, format, arguments);
  if (strncmp(line, "Unknown field", strlen("Unknown field")) != 0) add_warning(((TIFFMemory *)user)->text, line);
  return 1;
}

uint64_t block_limit(const Limits *limits) {
  uint64_t most = (uint64_t)INT64_MAX / bytesPerPixel - smallBytes;
  return (limits->pixels < most ? limits->pixels : most) * bytesPerPixel + smallBytes;
}

TIFF *open_memory(TIFFMemory *memory, const char *mode) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (options == NULL) return NULL;
  TIFFOpenOptionsSetErrorHandlerExtR(options, receive_error, memory);
  TIFFOpenOptionsSetWarningHandlerExtR(options, receive_warning, memory);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)block_limit(&memory->source.limits));
  TIFF *tiff = TIFFClientOpenExt("image", mode, memory, read_bytes, write_bytes, seek, close_file, size_of, map_file,
                                 unmap_file, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

/// Returns true if a strip or tile of the page ends behind the end of the file.
static bool is_cut(const TIFFMemory *memory, TIFF *tiff) {
  uint32_t count = TIFFIsTiled(tiff) ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t offset = TIFFGetStrileOffset(tiff, i), size = TIFFGetStrileByteCount(tiff, i);
    if (size > memory->source.count || offset > memory->source.count - size) return true;
  }
  return false;
}

DecodeStatus explain(const TIFFMemory *memory, TIFF *tiff) {
  char *error = memory->text->error;
  if (strstr(error, "byte limit") != NULL) return DecodeStatusLimit;
  if (strstr(error, "ut of memory") != NULL || strstr(error, "o space for") != NULL) {
    return DecodeStatusOutOfMemory;
  }
  if (error[0] == 0) fail(DecodeStatusCorrupt, memory->text, "invalid image data");
  return memory->isShort || (tiff != NULL && is_cut(memory, tiff)) ? DecodeStatusTruncated : DecodeStatusCorrupt;
}

#endif
