// Writes JPEG files of many kinds, whole and damaged, and decodes them with our decoders and with libjpeg alone, which
// must give the same samples and messages.
//
//   planes ROUNDS [SEED]

#include <stdbool.h>
#include <stdio.h>

#include "../../Sources/CImage/jpeg/ordinary.h"
#include "../Fuzzing/image.h"

/// The number of damaged copies of each file.
enum { copies = 24, maxSide = 80 };

/// True while libjpeg decodes everything.
static bool usesLibjpeg;
/// The files that our decoders began, and the strips that they read and did not read.
static long begun, read, unread;

bool __real_cimage_ordinary_open(OrdinaryDecoder *decoder, j_decompress_ptr cinfo, const uint8_t *end,
                                 size_t leastBytes, ScanLimits limits);
bool __real_cimage_ordinary_read(OrdinaryDecoder *decoder, const PlaneReader *reader);

/// The file that is decoded.
static const uint8_t *file;

// Called instead of our decoders, because of an option of the linker. They take short files, too.
bool __wrap_cimage_ordinary_open(OrdinaryDecoder *decoder, j_decompress_ptr cinfo, const uint8_t *end,
                                 size_t leastBytes, ScanLimits limits) {
  (void)leastBytes;
  // libjpeg reads from other memory if the file ends within its header.
  if (cinfo->src->next_input_byte < file || cinfo->src->next_input_byte > end) abort();
  bool isOpen = !usesLibjpeg && __real_cimage_ordinary_open(decoder, cinfo, end, 0, limits);
  begun += isOpen;
  return isOpen;
}

bool __wrap_cimage_ordinary_read(OrdinaryDecoder *decoder, const PlaneReader *reader) {
  bool isRead = __real_cimage_ordinary_read(decoder, reader);
  *(isRead ? &read : &unread) += 1;
  return isRead;
}

static uint64_t state;

/// Returns a number below `count` (xorshift64*).
static uint32_t random_below(uint32_t count) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * 0x2545F4914F6CDD1D) >> 32) % count;
}

/// The properties of a file.
typedef struct Kind {
  JDIMENSION width, height;
  /// 1 for gray images, or 3.
  int components;
  /// The sampling factors of each component.
  int factors[3][2];
  int quality, restartInterval;
  bool isOptimized, hasLargeFactors, isProgressive, hasManyScans;
  /// The kind of samples: 0 smooth, 1 noise, 2 only the two extremes, others smooth with some noise.
  uint32_t content;
} Kind;

static Kind random_kind(void) {
  static const int samplings[][3][2] = {
    {{1, 1}, {1, 1}, {1, 1}}, {{2, 1}, {1, 1}, {1, 1}}, {{2, 2}, {1, 1}, {1, 1}}, {{1, 2}, {1, 1}, {1, 1}},
    {{4, 1}, {1, 1}, {1, 1}}, {{4, 2}, {1, 1}, {1, 1}}, {{1, 4}, {1, 2}, {1, 1}}, {{2, 2}, {2, 1}, {1, 2}},
    {{1, 1}, {2, 2}, {1, 2}}, {{2, 2}, {2, 2}, {2, 1}}, {{3, 1}, {1, 1}, {3, 1}}, {{1, 2}, {1, 2}, {1, 2}},
  };
  Kind kind = {.width = 1 + random_below(maxSide), .height = 1 + random_below(maxSide)};
  kind.components = random_below(8) == 0 ? 1 : 3;
  memcpy(kind.factors, samplings[random_below(sizeof samplings / sizeof *samplings)], sizeof kind.factors);
  kind.quality = 1 + (int)random_below(100);
  kind.restartInterval = random_below(3) == 0 ? 1 + (int)random_below(5) : 0;
  kind.isOptimized = random_below(2) == 0;
  kind.hasLargeFactors = random_below(20) == 0;
  kind.isProgressive = random_below(2) == 0;
  kind.hasManyScans = random_below(10) == 0;
  kind.content = random_below(6);
  return kind;
}

static uint8_t random_sample(uint32_t content, uint32_t x, uint32_t y, uint32_t component) {
  if (content == 1) return (uint8_t)random_below(256);
  if (content == 2) return random_below(2) == 0 ? 0 : 255;
  uint32_t noise = content == 0 ? 0 : random_below(8 * content);
  return (uint8_t)(x * (2 + component) + y + noise);
}

/// The scans of a progressive file.
typedef struct Script {
  jpeg_scan_info scans[100];
  int count;
} Script;

/// Adds a scan of one component, or of all three.
static void add_scan(Script *script, int component, int first, int last, int high, int low) {
  jpeg_scan_info scan = {.comps_in_scan = component < 0 ? 3 : 1, .Ss = first, .Se = last, .Ah = high, .Al = low};
  for (int i = 0; i < scan.comps_in_scan; i++) scan.component_index[i] = component < 0 ? i : component;
  script->scans[script->count++] = scan;
}

/// Adds a band of coefficients, whose low bits come one by one after it.
static void add_band(Script *script, int component, int first, int last) {
  int low = random_below(2) == 0 ? 0 : (int)random_below(4);
  add_scan(script, component, first, last, 0, low);
  for (; low > 0; low--) add_scan(script, component, first, last, low, low - 1);
}

/// Returns the usual scans, or others.
static Script random_script(int components, bool isLong) {
  Script script = {.count = 0};
  bool isTogether = components == 3 && random_below(2) == 0;
  for (int i = isTogether ? -1 : 0; i < (isTogether ? 0 : components); i++) add_band(&script, i, 0, 0);
  for (int i = 0; i < components; i++) {
    for (int first = 1; first < 64;) {
      int last = random_below(2) == 0 ? 63 : first + (int)random_below((uint32_t)(64 - first));
      bool isTooLong = script.count > (isLong ? 35 + 12 * i : 12 + 4 * i);
      add_band(&script, i, first, isTooLong ? 63 : last);
      first = isTooLong ? 64 : last + 1;
    }
  }
  return script;
}

static void print_nothing(j_common_ptr cinfo) { (void)cinfo; }

static void write_rows(struct jpeg_compress_struct *cinfo, Kind kind) {
  uint8_t row[3 * maxSide], *rows[1] = {row};
  for (uint32_t y = 0; y < kind.height; y++) {
    uint32_t count = (uint32_t)kind.components;
    for (uint32_t i = 0; i < count * kind.width; i++) row[i] = random_sample(kind.content, i / count, y, i % count);
    jpeg_write_scanlines(cinfo, rows, 1);
  }
}

/// Returns the bytes of a file; the caller frees them.
static uint8_t *write_file(Kind kind, unsigned long *count) {
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;
  uint8_t *bytes = NULL;
  cinfo.err = jpeg_std_error(&errors);
  errors.output_message = print_nothing;
  jpeg_create_compress(&cinfo);
  jpeg_mem_dest(&cinfo, &bytes, count);
  cinfo.image_width = kind.width;
  cinfo.image_height = kind.height;
  cinfo.input_components = kind.components;
  cinfo.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&cinfo);
  jpeg_set_quality(&cinfo, kind.quality, !kind.hasLargeFactors);
  Script script = random_script(kind.components, kind.hasManyScans);
  if (kind.isProgressive) jpeg_simple_progression(&cinfo);
  if (kind.isProgressive && random_below(2) == 0) {
    cinfo.scan_info = script.scans;
    cinfo.num_scans = script.count;
  }
  cinfo.restart_interval = (unsigned)kind.restartInterval;
  cinfo.optimize_coding = kind.isOptimized;
  for (int i = 0; i < kind.components; i++) {
    cinfo.comp_info[i].h_samp_factor = kind.factors[i][0];
    cinfo.comp_info[i].v_samp_factor = kind.factors[i][1];
  }
  jpeg_start_compress(&cinfo, TRUE);
  write_rows(&cinfo, kind);
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  return bytes;
}

/// The decoded planes.
typedef struct Planes {
  FuzzImage images[3];
} Planes;

/// The part of each plane that is needed: where it begins and ends, in 256ths of the plane, across and down.
static uint32_t part[2][2];

/// Chooses a part: everything in half of the cases.
static void choose_part(void) {
  bool isWhole = random_below(2) == 0;
  for (int i = 0; i < 2; i++) {
    part[i][0] = isWhole ? 0 : random_below(256);
    part[i][1] = isWhole ? 256 : part[i][0] + 1 + random_below(256 - part[i][0]);
  }
}

static int32_t position(int32_t size, uint32_t fraction) { return (size * (int32_t)fraction + 255) / 256; }

static FuzzImage plane_image(int32_t width, int32_t height) {
  FuzzImage image = fuzz_image(width, height, 1);
  image.needed = (CImageArea){(width - 1) * (int32_t)part[0][0] / 256, (height - 1) * (int32_t)part[1][0] / 256,
                              position(width, part[0][1]), position(height, part[1][1])};
  return image;
}

static CImageStatus begin_planes(void *context, const CImagePlane planes[3]) {
  for (int i = 0; i < 3; i++) ((Planes *)context)->images[i] = plane_image(planes[i].width, planes[i].height);
  return CImageStatusOK;
}

static CImageArea needed_of_plane(void *context, int32_t plane) { return ((Planes *)context)->images[plane].needed; }

static void skip_planes(void *context, const int32_t *counts) {
  for (int i = 0; i < 3; i++) fuzz_skip(&((Planes *)context)->images[i], &counts[i]);
}

static CImageStatus take_planes(void *context, const CImageBitmap *rows) {
  for (int i = 0; i < 3; i++) fuzz_take(&((Planes *)context)->images[i], &rows[i]);
  return CImageStatusOK;
}

static bool are_same(const Planes *a, const Planes *b, int count) {
  for (int i = 0; i < count; i++) {
    FuzzImage image = a->images[i], other = b->images[i];
    if (image.count != image.bitmap.height || other.count != image.count) return false;
    if (!fuzz_same_area(image.bitmap, other.bitmap, image.needed)) return false;
  }
  return true;
}

/// Decodes a file into planes, or into pixels if it is gray.
static CImageStatus decode(Planes *planes, const uint8_t *bytes, size_t count, CImageJPEGDecoding options,
                           CImageMessages *messages) {
  if (options.channels == 3) {
    CImagePlaneSink sink = {begin_planes, {planes, needed_of_plane, skip_planes, take_planes}};
    return cimage_jpeg_decode_planes(bytes, count, options, sink, messages);
  }
  int32_t shrink = options.shrink;
  planes->images[0] = plane_image((options.width + shrink - 1) / shrink, (options.height + shrink - 1) / shrink);
  return cimage_jpeg_decode(bytes, count, options, fuzz_sink(&planes->images[0]), messages);
}

/// Decodes a file with our decoder and with libjpeg. Returns false if the results differ.
static bool compare(const uint8_t *bytes, size_t count, CImageJPEGDecoding options) {
  Planes planes[2] = {0};
  CImageStatus statuses[2];
  CImageMessages messages[2] = {0};
  file = bytes;
  for (int i = 0; i < 2; i++) {
    usesLibjpeg = i == 1;
    statuses[i] = decode(&planes[i], bytes, count, options, &messages[i]);
  }
  bool isSame = statuses[0] == statuses[1] && strcmp(messages[0].error, messages[1].error) == 0 &&
                strcmp(messages[0].warnings, messages[1].warnings) == 0 &&
                (statuses[0] != CImageStatusOK || are_same(&planes[0], &planes[1], options.channels));
  for (int i = 0; i < 6; i++) free(planes[i / 3].images[i % 3].bitmap.pixels);
  return isSame;
}

static bool compare_all(const uint8_t *bytes, size_t count, Kind kind, int32_t maxScans) {
  choose_part();
  for (int32_t shrink = 1; shrink <= 8; shrink *= 2) {
    CImageJPEGDecoding options = {.width = (int32_t)kind.width, .height = (int32_t)kind.height,
                                  .channels = kind.components, .shrink = shrink, .maxScans = maxScans,
                                  .maxMemory = 64 << 20};
    if (!compare(bytes, count, options)) return false;
  }
  return true;
}

/// Returns the offset of the data of the first scan.
static uint32_t data_offset(const uint8_t *bytes, size_t count) {
  size_t i = 2;
  while (i + 4 < count && bytes[i + 1] != 0xDA) i += 2 + ((size_t)bytes[i + 2] << 8 | bytes[i + 3]);
  return (uint32_t)(i < count ? i : 2);
}

/// Inserts 0xFF before a random one from `start` on, or at the end. Returns the new count.
static size_t insert_fill(uint8_t *bytes, size_t count, uint32_t start) {
  size_t place = start + random_below((uint32_t)count - start);
  while (place < count && bytes[place] != 0xFF) place += 1;
  memmove(bytes + place + 1, bytes + place, count - place);
  bytes[place] = 0xFF;
  return count + 1;
}

/// Returns the offset of the next marker at `place` or after it, or of the end.
static uint32_t marker_from(const uint8_t *bytes, size_t count, uint32_t place) {
  while (place + 1 < count && (bytes[place] != 0xFF || bytes[place + 1] < 0xC0)) place += 1;
  return place + 1 < count ? place : (uint32_t)count;
}

/// Removes or repeats all from one marker to another. Returns the new count.
static size_t move_segments(uint8_t *bytes, size_t count) {
  uint32_t start = marker_from(bytes, count, 2 + random_below((uint32_t)count - 2)), end = start;
  for (uint32_t i = 1 + random_below(3); i > 0 && end < count; i--) end = marker_from(bytes, count, end + 2);
  bool isRemoved = random_below(2) == 0;
  memmove(bytes + (isRemoved ? start : end), bytes + (isRemoved ? end : start), count - (isRemoved ? end : start));
  return isRemoved ? count - (end - start) : count + (end - start);
}

/// Changes some bytes, most of them in the data of the scan, or leaves out or repeats a part. Returns the new count;
/// `bytes` has room for twice as many.
static size_t damage(uint8_t *bytes, size_t count) {
  uint32_t start = random_below(4) == 0 ? 2 : data_offset(bytes, count), all = (uint32_t)count;
  uint32_t place = start + random_below(all - start), length = 1 + random_below(all - place);
  if (length > 40 && random_below(4) != 0) length = 1 + random_below(40);
  switch (random_below(8)) {
    case 0: return place;
    case 1: memmove(bytes + place, bytes + place + length, count - place - length); return count - length;
    case 2: memmove(bytes + place + length, bytes + place, count - place); return count + length;
    case 3: bytes[place] = 0xFF; return count;
    case 4: return insert_fill(bytes, count, start);
    case 5: bytes[place] = 0xFF; bytes[place + 1] = (uint8_t)(0xD0 + random_below(10)); return count;
    case 6: return move_segments(bytes, count);
    default:
      for (uint32_t i = 1 + random_below(3); i > 0; i--) {
        bytes[start + random_below(all - start)] ^= (uint8_t)(1 << random_below(8));
      }
      return count;
  }
}

static int fail(const uint8_t *bytes, size_t count, const char *reason) {
  FILE *file = fopen("planes-differ.jpg", "wb");
  if (file != NULL) {
    fwrite(bytes, 1, count, file);
    fclose(file);
  }
  fprintf(stderr, "%s: planes-differ.jpg\n", reason);
  return 1;
}

/// Returns true if our decoder should decode the file. Factors may be too large, or coefficients after rounding.
static bool is_ordinary(Kind kind) {
  bool hasFactors = kind.components == 1 && kind.factors[0][0] * kind.factors[0][1] > 1;
  return kind.quality > 25 && (kind.isProgressive ? !kind.hasManyScans : !hasFactors);
}

static int try_kind(Kind kind) {
  unsigned long count = 0;
  uint8_t *bytes = write_file(kind, &count), *copy = malloc(2 * count + 8);
  long before = begun, notRead = unread;
  int result = compare_all(bytes, count, kind, 50) ? 0 : fail(bytes, count, "a whole file is decoded differently");
  if (result == 0 && is_ordinary(kind) && (begun != before + 4 || unread != notRead)) {
    result = fail(bytes, count, "a whole file is left to libjpeg");
  }
  for (int i = 0; i < copies && result == 0; i++) {
    memcpy(copy, bytes, count);
    size_t damaged = damage(copy, count);
    bool isSame = compare_all(copy, damaged, kind, 1 + (int32_t)random_below(50));
    if (!isSame) result = fail(copy, damaged, "a damaged file is decoded differently");
  }
  free(copy);
  free(bytes);
  return result;
}

int main(int count, char **arguments) {
  long rounds = count > 1 ? atol(arguments[1]) : 1000;
  state = count > 2 ? (uint64_t)atoll(arguments[2]) * 2 + 1 : 1;
  for (long i = 0; i < rounds; i++) {
    if (try_kind(random_kind()) != 0) return 1;
  }
  printf("%ld files decoded the same; ours began %ld decodings, and read all but %ld of %ld strips\n",
         rounds * (1 + copies), begun, unread, read + unread);
  return begun > rounds ? 0 : 1;
}
