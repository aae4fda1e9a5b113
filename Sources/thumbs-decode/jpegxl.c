// Decodes JPEG XL with libjxl.
//
// The first pass of a lossy image, which has one sample for each 8x8 block, is not used: libjxl 0.7 returns it only
// enlarged to the full size. For photos of 12 megapixels, that takes 230 to 250 ms instead of 260 to 330 ms, and no
// less memory.

#include "formats.h"

#if __has_include(<jxl/decode.h>)

#include <jxl/decode.h>
#include <jxl/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct JPEGXL {
  Source source;
  JxlDecoder *decoder;
  JxlBasicInfo info;
  uint32_t channels;
} JPEGXL;

static const char *library(void) {
  static char name[32];
  uint32_t version = JxlDecoderVersion();
  snprintf(name, sizeof name, "libjxl %u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
  return name;
}

static JxlPixelFormat format_of(const JPEGXL *self) {
  return (JxlPixelFormat){self->channels, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
}

/// Lets the decoder start at the first byte. The input stays open, because the decoder takes the end of a closed one
/// for damage.
static bool start(JPEGXL *self, int events) {
  JxlDecoderRewind(self->decoder);
  return JxlDecoderSubscribeEvents(self->decoder, events) == JXL_DEC_SUCCESS &&
         JxlDecoderSetInput(self->decoder, self->source.bytes, self->source.count) == JXL_DEC_SUCCESS;
}

static bool has_black(const JPEGXL *self) {
  for (uint32_t i = 0; i < self->info.num_extra_channels; i++) {
    JxlExtraChannelInfo channel;
    if (JxlDecoderGetExtraChannelInfo(self->decoder, i, &channel) != JXL_DEC_SUCCESS) continue;
    if (channel.type == JXL_CHANNEL_BLACK) return true;
  }
  return false;
}

static DecodeStatus read_info(JPEGXL *self, DecodeHeader *header, DecodeText *text) {
  JxlBasicInfo *info = &self->info;
  DecodeStatus status = DecodeStatusOK;
  if (JxlDecoderGetBasicInfo(self->decoder, info) != JXL_DEC_SUCCESS) {
    return fail(DecodeStatusCorrupt, text, "invalid header");
  }
  if (!check_size(info->xsize, info->ysize, &self->source.limits, &status, text)) return status;
  if (has_black(self)) return fail(DecodeStatusUnsupported, text, "CMYK colors are not supported");
  self->channels = (info->num_color_channels == 1 ? 1 : 3) + (info->alpha_bits != 0);
  header->width = info->xsize;
  header->height = info->ysize;
  header->channels = self->channels;
  return DecodeStatusOK;
}

static JxlDecoderStatus profile_size(const JPEGXL *self, size_t *count) {
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
  return JxlDecoderGetICCProfileSize(self->decoder, JXL_COLOR_PROFILE_TARGET_DATA, count);
#else
  JxlPixelFormat format = format_of(self);
  return JxlDecoderGetICCProfileSize(self->decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, count);
#endif
}

static bool get_encoding(const JPEGXL *self, JxlColorEncoding *encoding) {
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
  return JxlDecoderGetColorAsEncodedProfile(self->decoder, JXL_COLOR_PROFILE_TARGET_DATA, encoding) == JXL_DEC_SUCCESS;
#else
  JxlPixelFormat format = format_of(self);
  return JxlDecoderGetColorAsEncodedProfile(self->decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, encoding) ==
         JXL_DEC_SUCCESS;
#endif
}

/// Reads the code points (ITU-T H.273) of high dynamic range, whose ICC profile would be nearly black. Returns false
/// for other colors.
static bool read_code_points(const JPEGXL *self, DecodeHeader *header) {
  JxlColorEncoding colors;
  if (!get_encoding(self, &colors) || colors.white_point != JXL_WHITE_POINT_D65) return false;
  if (colors.transfer_function != JXL_TRANSFER_FUNCTION_PQ && colors.transfer_function != JXL_TRANSFER_FUNCTION_HLG) {
    return false;
  }
  if (colors.color_space == JXL_COLOR_SPACE_GRAY || colors.primaries == JXL_PRIMARIES_SRGB) {
    header->primaries = 1;
  } else if (colors.primaries == JXL_PRIMARIES_2100) {
    header->primaries = 9;
  } else if (colors.primaries == JXL_PRIMARIES_P3) {
    header->primaries = 12;
  } else {
    return false;
  }
  header->transfer = colors.transfer_function == JXL_TRANSFER_FUNCTION_PQ ? 16 : 18;
  return true;
}

static void read_profile(const JPEGXL *self, DecodeHeader *header, DecodeText *text) {
  size_t count = 0;
  if (read_code_points(self, header)) return;
  if (profile_size(self, &count) != JXL_DEC_SUCCESS) return add_warning(text, "the colors have no ICC profile");
  header->profileCount = accepted_profile(count, text);
}

static void copy_profile(Image image, uint8_t *bytes) {
  JPEGXL *self = image;
  size_t count = 0;
  if (profile_size(self, &count) != JXL_DEC_SUCCESS) return;
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
  JxlDecoderGetColorAsICCProfile(self->decoder, JXL_COLOR_PROFILE_TARGET_DATA, bytes, count);
#else
  JxlPixelFormat format = format_of(self);
  JxlDecoderGetColorAsICCProfile(self->decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, bytes, count);
#endif
}

static DecodeStatus read_header(JPEGXL *self, DecodeHeader *header, DecodeText *text) {
  DecodeStatus status = DecodeStatusOK;
  while (status == DecodeStatusOK) {
    switch (JxlDecoderProcessInput(self->decoder)) {
      case JXL_DEC_BASIC_INFO:
        status = read_info(self, header, text);
        break;
      case JXL_DEC_COLOR_ENCODING:
        read_profile(self, header, text);
        return DecodeStatusOK;
      case JXL_DEC_NEED_MORE_INPUT:
        return fail(DecodeStatusTruncated, text, "the file ends within the header");
      default:
        return fail(DecodeStatusCorrupt, text, "invalid header");
    }
  }
  return status;
}

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  JPEGXL *self = *image = calloc(1, sizeof *self);
  if (self == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  self->source = *source;
  self->decoder = JxlDecoderCreate(NULL);
  if (self->decoder == NULL) return fail(DecodeStatusOutOfMemory, text, "out of memory");
  if (!start(self, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING)) {
    return fail(DecodeStatusCorrupt, text, "invalid header");
  }
  return read_header(self, header, text);
}

/// Gives the memory of the pixels to libjxl, which then needs little memory itself: with a callback for the pixels,
/// version 0.7 takes three times the memory, and a third more time.
static bool set_buffer(const JPEGXL *self, const Target *target) {
  JxlPixelFormat format = format_of(self);
  size_t count = (size_t)target->width * target->height * target->channels, needed = 0;
  return JxlDecoderImageOutBufferSize(self->decoder, &format, &needed) == JXL_DEC_SUCCESS && needed == count &&
         JxlDecoderSetImageOutBuffer(self->decoder, &format, target->pixels, count) == JXL_DEC_SUCCESS;
}

/// Decodes the first frame that is shown. If the data end early, libjxl draws what it has of all rows; none of them
/// counts as complete, because libjxl does not report how much it has.
static DecodeStatus decode_frame(const JPEGXL *self, Target *target, DecodeText *text) {
  for (;;) {
    switch (JxlDecoderProcessInput(self->decoder)) {
      case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
        if (set_buffer(self, target)) break;
        return fail(DecodeStatusCorrupt, text, "the image has another size than its header");
      case JXL_DEC_FULL_IMAGE:
        target->rowCount = target->height;
        return DecodeStatusOK;
      case JXL_DEC_NEED_MORE_INPUT:
        JxlDecoderFlushImage(self->decoder);
        return fail(DecodeStatusTruncated, text, "the image data ends before the last pixel");
      case JXL_DEC_SUCCESS:
        return fail(DecodeStatusCorrupt, text, "there is no image in the file");
      default:
        return fail(DecodeStatusCorrupt, text, "invalid image data");
    }
  }
}

static DecodeStatus decode(Image image, Target *target, DecodeText *text) {
  JPEGXL *self = image;
  target->rowCount = 0;
  if (!start(self, JXL_DEC_FULL_IMAGE)) return fail(DecodeStatusCorrupt, text, "the decoder does not start");
  DecodeStatus status = decode_frame(self, target, text);
  size_t count = (size_t)target->width * target->height;
  if (self->info.alpha_premultiplied && self->channels == 4) unpremultiply(target->pixels, count);
  if (self->info.alpha_premultiplied && self->channels == 2) unpremultiply_gray(target->pixels, count);
  return status;
}

static void close_image(Image image) {
  JPEGXL *self = image;
  if (self == NULL) return;
  if (self->decoder != NULL) JxlDecoderDestroy(self->decoder);
  free(self);
}

static const Format format = {
    .id = DecodeFormatJPEGXL,
    .library = library,
    .open = open_image,
    .copy_profile = copy_profile,
    .decode = decode,
    .close = close_image,
};

const Format *const decode_jpegxl = &format;

#else

const Format *const decode_jpegxl = NULL;

#endif
