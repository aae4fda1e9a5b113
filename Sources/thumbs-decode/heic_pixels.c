// Decodes the pixels of HEIC files, with libheif.

#if __has_include(<libheif/heif.h>)

#include "heic.h"

#include <errno.h>
#include <string.h>

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

DecodeStatus heic_decode(Image image, Target *target, DecodeText *text) {
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

#endif
