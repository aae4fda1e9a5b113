// Decodes HEIC images with libheif. NULL without it.

#include "formats.h"

#if __has_include(<libheif/heif.h>)

#include <errno.h>
#include <libheif/heif.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// An open image.
typedef struct HEICFile {
  struct heif_context *context;
  struct heif_image_handle *handle;
} HEICFile;

static const char *library(void) {
  static char name[32];
  snprintf(name, sizeof name, "libheif %s", heif_get_version());
  return name;
}

/// Loads the plugins, which are files.
static void prepare(void) {
  heif_init(NULL);
#if defined(M_PERTURB)
  // libde265 does not report damaged slices, and leaves their pixels as they were in memory, which may be those of an
  // earlier image. With this, `malloc` fills memory with the complement: zero.
  mallopt(M_PERTURB, 0xFF);
#endif
}

/// Takes the place of libde265's function, which libheif calls for each image, whatever its options say. libde265
/// decodes on the calling thread if it has no other, but waits forever for a thread that the sandbox has refused.
///
/// The libraries find this function if the program exports it: the linker does so by itself if libheif contains its
/// decoder, but needs `--export-dynamic-symbol` if that is a plugin. The symbol is weak for static linking.
__attribute__((weak, visibility("default"))) int de265_start_worker_threads(void *decoder, int count);

int de265_start_worker_threads(void *decoder, int count) {
  (void)decoder, (void)count;
  return 0;
}

// MARK: Errors

static uint64_t read_number(const uint8_t *bytes, int count) {
  uint64_t number = 0;
  for (int i = 0; i < count; i++) number = number << 8 | bytes[i];
  return number;
}

/// Returns true if the file ends within a box. For libheif, the file then lacks that box.
static bool is_cut(const Source *source) {
  size_t offset = 0;
  while (source->count - offset >= 8) {
    const uint8_t *box = source->bytes + offset;
    uint64_t size = read_number(box, 4);
    // One is a box with a longer size; zero is a box up to the end.
    if (size == 1 && source->count - offset >= 16) size = read_number(box + 8, 8);
    if (size < 8) return size == 1;
    if (size > source->count - offset) return true;
    offset += size;
  }
  return offset < source->count;
}

static DecodeStatus status_of(struct heif_error error) {
  // libheif reports a failed allocation during the conversion of colors as an unsupported one.
  if (errno == ENOMEM) return DecodeStatusOutOfMemory;
  switch (error.subcode) {
    case heif_suberror_End_of_data:
      return DecodeStatusTruncated;
    case heif_suberror_Security_limit_exceeded:
      // The same code is for the sizes of images and for the numbers of boxes and items.
      return strstr(error.message, "mage") != NULL ? DecodeStatusTooManyPixels : DecodeStatusLimit;
    case heif_suberror_Unsupported_codec:
      return DecodeStatusUnsupported;
    default:
      break;
  }
  switch (error.code) {
    case heif_error_Memory_allocation_error:
      return DecodeStatusOutOfMemory;
    case heif_error_Unsupported_feature:
    case heif_error_Unsupported_filetype:
      return DecodeStatusUnsupported;
    default:
      return DecodeStatusCorrupt;
  }
}

/// Sets the error of `text` to the message of libheif, and returns the status.
static DecodeStatus heic_fail(struct heif_error error, DecodeText *text) {
  // Some messages end with a newline.
  return fail(status_of(error), text, "%.*s", (int)strcspn(error.message, "\n"), error.message);
}

// MARK: Header

/// The usual side of the tiles of a grid.
enum { tileSide = 512 };

/// Sets the limits of libheif for an image of the declared size. The data of a grid declares another size, for which
/// libheif would allocate pixels.
static void set_limits(struct heif_context *context, uint32_t width, uint32_t height) {
#if LIBHEIF_HAVE_VERSION(1, 19, 0)
  // HEVC data, and the tiles of a grid, may extend over the borders.
  uint64_t pixels = ((uint64_t)width + tileSide) * ((uint64_t)height + tileSide);
  heif_context_get_security_limits(context)->max_image_size_pixels = pixels;
#else
  // A grid must be smaller than the limit.
  uint32_t side = width > height ? width : height;
  heif_context_set_maximum_image_size_limit(context, side < INT_MAX ? (int)side + 1 : INT_MAX);
#endif
}

static void describe(const struct heif_image_handle *handle, DecodeHeader *header, DecodeText *text) {
  header->width = (uint32_t)heif_image_handle_get_width(handle);
  header->height = (uint32_t)heif_image_handle_get_height(handle);
  header->channels = heif_image_handle_has_alpha_channel(handle) ? 4 : 3;
  header->profileCount = accepted_profile(heif_image_handle_get_raw_color_profile_size(handle), text);
  if (header->profileCount != 0) return;
  struct heif_color_profile_nclx *nclx = NULL;
  struct heif_error error = heif_image_handle_get_nclx_color_profile(handle, &nclx);
  if (error.code == heif_error_Ok && nclx != NULL) {
    header->primaries = (uint8_t)nclx->color_primaries;
    header->transfer = (uint8_t)nclx->transfer_characteristics;
    header->matrix = (uint8_t)nclx->matrix_coefficients;
  }
  heif_nclx_color_profile_free(nclx);
}

static struct heif_error parse(HEICFile *file, const Source *source) {
  // Zero decodes the tiles on this thread; one would start a thread.
  heif_context_set_max_decoding_threads(file->context, 0);
  // Parsing allocates no pixels. `check_size` applies the real limits, and explains them.
  heif_context_set_maximum_image_size_limit(file->context, INT_MAX);
  struct heif_error error =
    heif_context_read_from_memory_without_copy(file->context, source->bytes, source->count, NULL);
  return error.code == heif_error_Ok ? heif_context_get_primary_image_handle(file->context, &file->handle) : error;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  HEICFile *file = calloc(1, sizeof *file);
  if (file == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  *image = file;
  file->context = heif_context_alloc();
  if (file->context == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  errno = 0;
  struct heif_error error = parse(file, source);
  if (error.code != heif_error_Ok) {
    DecodeStatus status = heic_fail(error, text);
    bool isUnclear = status == DecodeStatusCorrupt || status == DecodeStatusUnsupported;
    return isUnclear && is_cut(source) ? DecodeStatusTruncated : status;
  }
  describe(file->handle, header, text);
  // The size before the transformations counts, too: libheif decodes that, and crops it.
  uint32_t width = (uint32_t)heif_image_handle_get_ispe_width(file->handle);
  uint32_t height = (uint32_t)heif_image_handle_get_ispe_height(file->handle);
  DecodeStatus status = DecodeStatusOK;
  if (!check_size(width, height, &source->limits, &status, text) ||
      !check_size(header->width, header->height, &source->limits, &status, text)) {
    return status;
  }
  set_limits(file->context, width, height);
  return DecodeStatusOK;
}

static void copy_profile(Image image, uint8_t *bytes) {
  heif_image_handle_get_raw_color_profile(((HEICFile *)image)->handle, bytes);
}

// MARK: Pixels

static struct heif_error decode_handle(const HEICFile *file, uint32_t channels, struct heif_image **pixels) {
  struct heif_decoding_options *options = heif_decoding_options_alloc();
  if (options == NULL) {
    return (struct heif_error){heif_error_Memory_allocation_error, heif_suberror_Unspecified, "out of memory"};
  }
  options->ignore_transformations = 0;
  options->convert_hdr_to_8bit = 1;
  // The library may be older than its header, with shorter options.
#if LIBHEIF_HAVE_VERSION(1, 21, 0)
  if (options->version >= 8) options->num_codec_threads = 1;
#endif
#if LIBHEIF_HAVE_VERSION(1, 23, 0)
  // The colors stay in the space that the header of the file names. The default converts them to sRGB.
  if (options->version >= 10) options->output_image_nclx_profile_passthrough = 1;
#endif
  enum heif_chroma chroma = channels == 4 ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  struct heif_error error = heif_decode_image(file->handle, pixels, heif_colorspace_RGB, chroma, options);
  heif_decoding_options_free(options);
  return error;
}

/// Fails if tiles are missing. Newer versions of libheif leave out damaged tiles with a warning, where others fail.
static DecodeStatus check_warnings(struct heif_image *pixels, DecodeText *text) {
  struct heif_error warning;
  for (int i = 0; heif_image_get_decoding_warnings(pixels, i, &warning, 1) == 1; i++) {
    switch (warning.subcode) {
      case heif_suberror_Unknown_NCLX_color_primaries:
      case heif_suberror_Unknown_NCLX_transfer_characteristics:
      case heif_suberror_Unknown_NCLX_matrix_coefficients:
        add_warning(text, warning.message);
        break;
      default:
        return heic_fail(warning, text);
    }
  }
  return DecodeStatusOK;
}

static DecodeStatus copy_rows(const struct heif_image *pixels, Target *target, DecodeText *text) {
  int stride = 0;
  const uint8_t *plane = heif_image_get_plane_readonly(pixels, heif_channel_interleaved, &stride);
  if (plane == NULL || (uint32_t)heif_image_get_width(pixels, heif_channel_interleaved) != target->width ||
      (uint32_t)heif_image_get_height(pixels, heif_channel_interleaved) != target->height) {
    return fail(DecodeStatusCorrupt, text, "the HEVC data contradicts the header");
  }
  size_t rowBytes = (size_t)target->width * target->channels;
  for (uint32_t y = 0; y < target->height; y++) {
    memcpy(target->pixels + y * rowBytes, plane + y * (size_t)stride, rowBytes);
  }
  target->rowCount = target->height;
  return DecodeStatusOK;
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  const HEICFile *file = image;
  struct heif_image *pixels = NULL;
  errno = 0;
  struct heif_error error = decode_handle(file, target->channels, &pixels);
  if (error.code != heif_error_Ok) return heic_fail(error, text);
  if (pixels == NULL) return fail(DecodeStatusCorrupt, text, "no image data");
  DecodeStatus status = check_warnings(pixels, text);
  if (status == DecodeStatusOK) status = copy_rows(pixels, target, text);
  heif_image_release(pixels);
  if (status == DecodeStatusOK && target->channels == 4 && heif_image_handle_is_premultiplied_alpha(file->handle)) {
    unpremultiply(target->pixels, (size_t)target->width * target->height);
  }
  return status;
}

// MARK: Format

static void close_image(Image image) {
  HEICFile *file = image;
  if (file == NULL) return;
  if (file->handle != NULL) heif_image_handle_release(file->handle);
  if (file->context != NULL) heif_context_free(file->context);
  free(file);
}

static const Format heic = {
  .id = DecodeFormatHEIC,
  .library = library,
  .prepare = prepare,
  .open = open_image,
  .copy_profile = copy_profile,
  .decode = decode,
  .close = close_image,
};

const Format *const decode_heic = &heic;

#else

const Format *const decode_heic = NULL;

#endif
