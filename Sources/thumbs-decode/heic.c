// Decodes HEIC images with libheif. NULL without it.

#include "formats.h"

#if __has_include(<libheif/heif.h>)

#include "heic.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

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

static void copy_profile(Image image, uint8_t *bytes) {
  heif_image_handle_get_raw_color_profile(((HEICFile *)image)->handle, bytes);
}

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
  .open = heic_open,
  .copy_profile = copy_profile,
  .decode = heic_decode,
  .close = close_image,
};

const Format *const decode_heic = &heic;

#else

const Format *const decode_heic = NULL;

#endif
