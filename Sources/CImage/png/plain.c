#include "plain.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "../strips.h"

/// The most bytes of decompressed image data, and of compressed data that must be joined. libpng needs only two rows of
/// larger images.
enum { maxBytes = 32 << 20 };

/// The compressed image data: where it begins, and the number of bytes in all chunks.
typedef struct Compressed {
  const uint8_t *bytes;
  size_t count;
  /// True if `bytes` must be freed, because they were joined from several chunks.
  bool isJoined;
} Compressed;

static uint32_t big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Returns the length of the data of the chunk at the start of `bytes`; SIZE_MAX if its checksum is wrong or it does
/// not fit in `count` bytes.
static size_t chunk_length(const uint8_t *bytes, size_t count) {
  if (count < 12) return SIZE_MAX;
  size_t length = big_endian(bytes);
  if (length > count - 12) return SIZE_MAX;
  return libdeflate_crc32(0, bytes + 4, length + 4) == big_endian(bytes + 8 + length) ? length : SIZE_MAX;
}

/// Returns true if nothing but `IEND` and chunks of text follow the image data.
static bool ends_plainly(const uint8_t *bytes, size_t count) {
  for (;;) {
    size_t length = chunk_length(bytes, count);
    if (length == SIZE_MAX) return false;
    if (memcmp(bytes + 4, "IEND", 4) == 0) return length == 0;
    static const char allowed[5][5] = {"tEXt", "zTXt", "iTXt", "tIME", "eXIf"};
    bool isAllowed = false;
    for (int i = 0; i < 5; i++) isAllowed |= memcmp(bytes + 4, allowed[i], 4) == 0;
    if (!isAllowed) return false;
    bytes += length + 12;
    count -= length + 12;
  }
}

/// Joins the data of `chunkCount` chunks with `total` bytes in all.
static bool join(Compressed *compressed, const uint8_t *chunks, size_t chunkCount, size_t total) {
  uint8_t *joined = malloc(total);
  if (joined == NULL) return false;
  *compressed = (Compressed){joined, total, true};
  for (size_t i = 0; i < chunkCount; i++) {
    size_t length = big_endian(chunks);
    memcpy(joined, chunks + 8, length);
    joined += length;
    chunks += length + 12;
  }
  return true;
}

/// Finds the compressed image data. Returns false if any chunk is damaged or unusual, or if there are more bytes than
/// `size` bytes can take without any compression, or so many that they cannot be joined.
static bool find(Compressed *compressed, const uint8_t *chunks, size_t count, size_t size) {
  size_t offset = 0, total = 0, chunkCount = 0;
  while (count - offset >= 8 && memcmp(chunks + offset + 4, "IDAT", 4) == 0) {
    size_t length = chunk_length(chunks + offset, count - offset);
    if (length == SIZE_MAX) return false;
    chunkCount += 1;
    total += length;
    offset += length + 12;
  }
  if (total == 0 || total > size + size / 1000 + 1000 || !ends_plainly(chunks + offset, count - offset)) return false;
  *compressed = (Compressed){chunks + 8, total, false};
  if (chunkCount == 1) return true;
  return total <= maxBytes - size && join(compressed, chunks, chunkCount, total);
}

/// Decompresses exactly all rows from exactly all bytes. Without the header of zlib, there is no checksum either.
static bool inflate_rows(Compressed compressed, FilteredRows rows, bool hasHeader) {
  struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
  if (decompressor == NULL) return false;
  size_t used = 0, size = rows.count * (rows.rowBytes + 1);
  enum libdeflate_result result =
    (hasHeader ? libdeflate_zlib_decompress_ex : libdeflate_deflate_decompress_ex)(
      decompressor, compressed.bytes, compressed.count, rows.bytes, size, &used, NULL);
  libdeflate_free_decompressor(decompressor);
  return result == LIBDEFLATE_SUCCESS && used == compressed.count && cimage_filters_are_known(rows);
}

/// Returns true if the rows of the file can be converted to `channels` here.
static bool is_plain(png_structp png, png_infop info, int channels) {
  if (png_get_interlace_type(png, info) != PNG_INTERLACE_NONE || png_get_bit_depth(png, info) > 8) return false;
  int color = png_get_color_type(png, info);
  bool isTransparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  int least = (color & PNG_COLOR_MASK_COLOR ? 3 : 1) + (color & PNG_COLOR_MASK_ALPHA || isTransparent ? 1 : 0);
  return channels == least || (channels == least + 1 && least % 2 == 1);
}

bool cimage_plain_open(PlainData *data, png_structp png, png_infop info, const uint8_t *chunks, size_t count,
                       int channels, bool isApple) {
  if (!is_plain(png, info, channels)) return false;
  size_t rowBytes = png_get_rowbytes(png, info), height = png_get_image_height(png, info);
  if ((rowBytes + 1) * height > maxBytes) return false;
  Compressed compressed = {0};
  if (!find(&compressed, chunks, count, (rowBytes + 1) * height)) return false;
  size_t bits = (size_t)png_get_channels(png, info) * png_get_bit_depth(png, info);
  data->rows = (FilteredRows){malloc((rowBytes + 1) * height), height, rowBytes, (bits + 7) / 8};
  data->isSwapped = isApple && png_get_color_type(png, info) != PNG_COLOR_TYPE_PALETTE;
  bool isComplete = data->rows.bytes != NULL && inflate_rows(compressed, data->rows, !isApple);
  if (compressed.isJoined) free((void *)compressed.bytes);
  if (isComplete) {
    cimage_expansion_init(&data->expansion, png, info, channels);
  } else {
    free(data->rows.bytes);
    data->rows.bytes = NULL;
  }
  return isComplete;
}

/// Puts red first, and divides the colors by their alpha.
static void restore(CImageBitmap strip) {
  size_t channels = (size_t)strip.channels;
  for (int32_t y = 0; y < strip.height && channels > 2; y++) {
    uint8_t *pixel = strip.pixels + (size_t)y * strip.stride;
    for (int32_t x = 0; x < strip.width; x++, pixel += channels) {
      uint8_t blue = pixel[0];
      pixel[0] = pixel[2];
      pixel[2] = blue;
    }
  }
  if (channels % 2 == 0) cimage_unpremultiply(strip);
}

static CImageStatus pass(const PlainData *data, CImageBitmap strip, CImageRowSink sink) {
  if (data->isSwapped) restore(strip);
  return sink.take(sink.context, &strip);
}

/// Converts the rows from `first` on, and passes them on.
static CImageStatus pass_expanded(const PlainData *data, size_t first, CImageBitmap strip, CImageRowSink sink) {
  const uint8_t *row = data->rows.bytes + first * (data->rows.rowBytes + 1) + 1;
  for (int32_t y = 0; y < strip.height; y++, row += data->rows.rowBytes + 1) {
    cimage_expand_row(&data->expansion, row, strip.pixels + (size_t)y * strip.stride);
  }
  return pass(data, strip, sink);
}

CImageStatus cimage_plain_read(PlainData *data, CImageRowSink sink) {
  FilteredRows rows = data->rows;
  CImageBitmap strip = {.width = data->expansion.width, .channels = data->expansion.channels};
  strip.stride = data->expansion.isIdentity ? rows.rowBytes + 1 : (size_t)strip.width * (size_t)strip.channels;
  uint8_t *expanded = data->expansion.isIdentity ? NULL : malloc(strip.stride * stripRows);
  if (!data->expansion.isIdentity && expanded == NULL) return CImageStatusOutOfMemory;
  CImageStatus status = CImageStatusOK;
  for (size_t y = 0; y < rows.count && status == CImageStatusOK; y += stripRows) {
    size_t end = y + stripRows < rows.count ? y + stripRows : rows.count;
    cimage_unfilter_rows(rows, y, end);
    strip.height = (int32_t)(end - y);
    if (expanded != NULL) {
      strip.pixels = expanded;
      status = pass_expanded(data, y, strip, sink);
    } else {
      strip.pixels = rows.bytes + y * (rows.rowBytes + 1) + 1;
      status = pass(data, strip, sink);
    }
  }
  free(expanded);
  return status;
}
