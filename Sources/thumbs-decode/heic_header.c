// Reads the header of HEIC files, with libheif.

#if __has_include(<libheif/heif.h>)

#include "heic.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

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

DecodeStatus heic_open(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
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
    return isUnclear && heic_is_cut(source) ? DecodeStatusTruncated : status;
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

#endif
