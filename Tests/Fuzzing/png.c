// Decodes arbitrary bytes as PNG, with libpng alone and without it where possible, which must give the same pixels or
// the same failure. Encodes the result, which must be lossless.

#define _GNU_SOURCE  // memmem
#include <libdeflate.h>
#include <stdbool.h>

#include "../../Sources/CImage/png/plain.h"
#include "image.h"

enum { maxPixels = 1 << 18 };

/// True while libpng decodes everything.
static bool usesLibpng;

bool __real_cimage_plain_open(PlainData *data, png_structp png, png_infop info, const uint8_t *chunks, size_t count,
                              int channels, bool isApple);

/// Called instead of `cimage_plain_open`, because of an option of the linker. libpng cannot decode the files of iOS
/// packages.
bool __wrap_cimage_plain_open(PlainData *data, png_structp png, png_infop info, const uint8_t *chunks, size_t count,
                              int channels, bool isApple) {
  return (!usesLibpng || isApple) && __real_cimage_plain_open(data, png, info, chunks, count, channels, isApple);
}

static uint32_t number(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Returns true for a file of an iOS package, whose header is 16 bytes later.
static bool is_apple(const uint8_t *file, size_t count) { return count >= 50 && memcmp(file + 12, "CgBI", 4) == 0; }

/// Returns the number of channels to decode a file with: those of its color type, and alpha if the file has `tRNS`.
static int32_t channels_of(const uint8_t *file, size_t count) {
  static const int32_t channels[7] = {1, 0, 3, 3, 2, 0, 4};
  uint8_t color = file[is_apple(file, count) ? 41 : 25];
  int32_t plain = color <= 6 ? channels[color] : 0;
  return plain + (plain % 2 == 1 && memmem(file, count, "tRNS", 4) != NULL);
}

static void encode_and_compare(CImageBitmap bitmap) {
  CImageMessages messages = {0};
  size_t capacity = cimage_encoded_bound(bitmap), written;
  uint8_t *file = malloc(capacity);
  if (cimage_png_encode(bitmap, file, capacity, &written, &messages) != CImageStatusOK) abort();
  CImagePNGDecoding options = {bitmap.width, bitmap.height, channels_of(file, written), 0};
  FuzzImage again = fuzz_image(bitmap.width, bitmap.height, options.channels);
  if (cimage_png_decode(file, written, options, fuzz_sink(&again), &messages) != CImageStatusOK) abort();
  if (options.channels == bitmap.channels && !fuzz_same(bitmap, again.bitmap)) abort();
  free(again.bitmap.pixels);
  free(file);
}

/// Decodes with libpng alone, and compares status and pixels.
static void compare(const uint8_t *bytes, size_t count, CImagePNGDecoding options, CImageStatus status,
                    CImageBitmap bitmap) {
  FuzzImage other = fuzz_image(bitmap.width, bitmap.height, bitmap.channels);
  CImageMessages messages = {0};
  usesLibpng = true;
  CImageStatus otherStatus = cimage_png_decode(bytes, count, options, fuzz_sink(&other), &messages);
  usesLibpng = false;
  if (otherStatus != status) abort();
  if (status == CImageStatusOK && (other.count != bitmap.height || !fuzz_same(bitmap, other.bitmap))) abort();
  free(other.bitmap.pixels);
}

static void read_profile(const uint8_t *bytes, size_t count, CImagePNGDecoding options) {
  uint8_t profile[4096];
  CImageProfileRoom room = {profile, sizeof profile, 0};
  CImageMessages messages = {0};
  cimage_png_read_profile(bytes, count, options, &room, &messages);
}

/// Decodes a file in every way, and compares the results.
static void decode(const uint8_t *bytes, size_t count) {
  size_t header = is_apple(bytes, count) ? 28 : 12;
  if (count < 34 || memcmp(bytes + header, "IHDR", 4) != 0) return;
  uint32_t width = number(bytes + header + 4), height = number(bytes + header + 8);
  if (width == 0 || height == 0 || width > maxPixels || height > maxPixels) return;
  if (width * (uint64_t)height > maxPixels || channels_of(bytes, count) == 0) return;
  // A byte of the checksum of the header requests an opaque alpha channel or a conversion of gamma.
  int choice = bytes[29] % 4;
  CImagePNGDecoding options = {(int32_t)width, (int32_t)height, channels_of(bytes, count), choice == 1 ? 1 : 0};
  if (choice == 2 && options.channels % 2 == 1) options.channels += 1;
  FuzzImage image = fuzz_image(options.width, options.height, options.channels);
  CImageMessages messages = {0};
  CImageStatus status = cimage_png_decode(bytes, count, options, fuzz_sink(&image), &messages);
  compare(bytes, count, options, status, image.bitmap);
  if (status == CImageStatusOK) encode_and_compare(image.bitmap);
  read_profile(bytes, count, options);
  free(image.bitmap.pixels);
}

/// A file that is being written.
typedef struct File {
  uint8_t bytes[1 << 17];
  size_t count;
} File;

/// Writes a chunk if there is room for it.
static void put_chunk(File *file, const char *type, const uint8_t *data, size_t count) {
  if (count + 12 > sizeof file->bytes - file->count) return;
  uint8_t *chunk = file->bytes + file->count;
  for (int i = 0; i < 4; i++) chunk[i] = (uint8_t)(count >> (24 - 8 * i));
  memcpy(chunk + 4, type, 4);
  if (count > 0) memcpy(chunk + 8, data, count);
  uint32_t sum = libdeflate_crc32(0, chunk + 4, count + 4);
  for (int i = 0; i < 4; i++) chunk[8 + count + i] = (uint8_t)(sum >> (24 - 8 * i));
  file->count += count + 12;
}

/// Compresses `rows`, and writes them as chunks of at most `most` bytes.
static void put_data(File *file, const uint8_t *rows, size_t count, size_t most, bool isApple) {
  static uint8_t data[1 << 16];
  struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
  size_t written = (isApple ? libdeflate_deflate_compress : libdeflate_zlib_compress)(
    compressor, rows, count, data, sizeof data);
  libdeflate_free_compressor(compressor);
  for (size_t at = 0; at < written; at += most) {
    put_chunk(file, "IDAT", data + at, written - at < most ? written - at : most);
  }
}

/// Writes a valid file, but for the size of the image data, the types of filters and the numbers of colors: the first
/// bytes choose its header, its palette and its transparency, the others are the filtered rows.
static void make(const uint8_t *bytes, size_t count, File *file) {
  static const uint8_t colors[5] = {0, 2, 3, 4, 6}, depths[4] = {8, 4, 2, 1};
  uint8_t color = colors[bytes[2] % 5], depth = color == 0 || color == 3 ? depths[bytes[3] % 4] : 8;
  uint8_t header[13] = {0, 0, 0, 1 + bytes[0] % 80, 0, 0, 0, 1 + bytes[1] % 80, depth, color};
  memcpy(file->bytes, "\x89PNG\r\n\x1A\n", 8);
  file->count = 8;
  bool isApple = bytes[5] & 2;
  if (isApple) put_chunk(file, "CgBI", header, 4);
  put_chunk(file, "IHDR", header, 13);
  uint8_t palette[3 * 256];
  for (size_t i = 0; i < sizeof palette; i++) palette[i] = bytes[i % count];
  size_t colorCount = 1 + bytes[4] % (1u << (color == 3 ? depth : 8));
  if (color == 3) put_chunk(file, "PLTE", palette, 3 * colorCount);
  if (bytes[5] & 1) put_chunk(file, "tRNS", palette + 7, color == 0 ? 2 : color == 2 ? 6 : bytes[5] % colorCount + 1);
  put_data(file, bytes + 7, count - 7, 1 + (bytes[6] & 1 ? 65535 : bytes[6]), isApple);
  put_chunk(file, "IEND", NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  decode(bytes, count);
  static File file;
  if (count < 8 || count > 30000) return 0;
  make(bytes, count, &file);
  decode(file.bytes, file.count);
  return 0;
}

/// Adds inputs of exactly the right size with known filters to those of the fuzzer, which rarely finds them.
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned seed) {
  count = LLVMFuzzerMutate(bytes, count, most);
  if (seed % 2 == 0 || count < 8) return count;
  static const size_t channels[5] = {1, 3, 1, 2, 4}, depths[4] = {8, 4, 2, 1};
  size_t color = bytes[2] % 5, depth = color == 0 || color == 2 ? depths[bytes[3] % 4] : 8;
  size_t row = 1 + ((1u + bytes[0] % 80) * channels[color] * depth + 7) / 8, height = 1 + bytes[1] % 80;
  size_t size = 7 + row * height;
  if (size > most) return count;
  for (size_t i = count; i < size; i++) bytes[i] = bytes[i - count + 7 < i ? i - count + 7 : 0];
  for (size_t y = 0; y < height; y++) bytes[7 + y * row] %= 5;
  return size;
}
