#include "CImage.h"

#include <lcms2.h>
#include <libdeflate.h>
#include <png.h>
#include <stdio.h>
// jpeglib.h uses FILE without declaring it.
#include <jpeglib.h>
#ifdef CIMAGE_WEBP
#include <webp/decode.h>
#endif

#define TEXT_OF(token) #token
#define TEXT(macro) TEXT_OF(macro)

static void describe(CImageLibrary *library, const char *name, const char *version) {
  snprintf(library->name, sizeof library->name, "%s", name);
  snprintf(library->version, sizeof library->version, "%s", version);
}

static void describe_jpeg(CImageLibrary *library) {
#ifdef LIBJPEG_TURBO_VERSION
  describe(library, "libjpeg-turbo", TEXT(LIBJPEG_TURBO_VERSION));
#else
  describe(library, "libjpeg", TEXT(JPEG_LIB_VERSION));
#endif
}

/// lcms2 has its version as a number: 2140 is 2.14.
static void describe_lcms(CImageLibrary *library) {
  int version = cmsGetEncodedCMMversion(), patch = version % 10;
  describe(library, "lcms2", "");
  int length = snprintf(library->version, sizeof library->version, "%d.%d", version / 1000, version % 1000 / 10);
  if (patch > 0) snprintf(library->version + length, sizeof library->version - (size_t)length, ".%d", patch);
}

#ifdef CIMAGE_WEBP
/// libwebp has its version as a number of three bytes.
static void describe_webp(CImageLibrary *library) {
  int version = WebPGetDecoderVersion();
  describe(library, "libwebp", "");
  snprintf(library->version, sizeof library->version, "%d.%d.%d", version >> 16 & 255, version >> 8 & 255,
           version & 255);
}
#endif

int32_t cimage_library(int32_t index, CImageLibrary *library) {
  switch (index) {
  case 0: describe_jpeg(library); return 1;
  case 1: describe(library, "libpng", png_get_libpng_ver(NULL)); return 1;
  case 2: describe(library, "libdeflate", LIBDEFLATE_VERSION_STRING); return 1;
  case 3: describe_lcms(library); return 1;
#ifdef CIMAGE_WEBP
  case 4: describe_webp(library); return 1;
#endif
  default: return 0;
  }
}
