// Reads what the header of a TIFF image declares.

#if __has_include(<tiffio.h>)

#include "tiff_image.h"

/// Prevents libtiff from multiplying the colors by their alpha, and remembers if they are multiplied in the file.
static void keep_colors(TIFFImage *self) {
  uint16_t count = 0, *types = NULL, associated = EXTRASAMPLE_ASSOCALPHA;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  if (count == 0) return;
  self->isPremultiplied = types[0] == EXTRASAMPLE_ASSOCALPHA;
  if (types[0] == EXTRASAMPLE_UNASSALPHA) TIFFSetField(self->tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
}

static DecodeStatus begin(TIFFImage *self, DecodeText *text) {
  char message[1024] = "";
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_COMPRESSION, &compression);
  if (!TIFFIsCODECConfigured(compression)) {
    return fail(DecodeStatusUnsupported, text, "compression scheme %u is not supported", compression);
  }
  if (!TIFFRGBAImageOK(self->tiff, message)) return fail(DecodeStatusUnsupported, text, "%s", message);
  keep_colors(self);
  self->hasReader = TIFFRGBAImageBegin(&self->reader, self->tiff, 1, message) != 0;
  if (!self->hasReader) return fail(DecodeStatusUnsupported, text, "%s", message);
  // Rows come as they are stored.
  self->reader.orientation = self->reader.req_orientation = ORIENTATION_TOPLEFT;
  return DecodeStatusOK;
}

bool is_gray(const TIFFImage *self) {
  uint16_t photometric = self->reader.photometric;
  return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
}

uint32_t color_count(const TIFFImage *self) { return is_gray(self) ? 1 : 3; }

/// Returns the channels of the pixels. Extra samples of an unspecified kind are not alpha, though libtiff takes them
/// for it.
static uint32_t channels_of(const TIFFImage *self) {
  uint16_t count = 0, *types = NULL;
  uint32_t colors = color_count(self);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  bool hasAlpha = count != 0 && types[0] != EXTRASAMPLE_UNSPECIFIED && self->reader.samplesperpixel > colors;
  bool isRead = self->hasPlainSamples || self->reader.photometric == PHOTOMETRIC_RGB;
  return hasAlpha && isRead ? colors + 1 : colors;
}

uint32_t find_tiff_profile(const TIFFImage *self, const void **bytes, DecodeText *text) {
  uint32_t count = 0;
  uint16_t photometric = self->reader.photometric;
  if (!TIFFGetField(self->tiff, TIFFTAG_ICCPROFILE, &count, bytes) || count == 0) return 0;
  TIFFGetField(self->tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_PALETTE:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
      return accepted_profile(count, text);
    default:
      // libtiff converts these colors to RGB, which the profile does not describe.
      add_warning(text, "the colors are approximate, because the ICC profile is not used");
      return 0;
  }
}

DecodeStatus read_tiff_header(TIFFImage *self, DecodeHeader *header, DecodeText *text) {
  DecodeStatus status = DecodeStatusOK;
  const void *profile = NULL;
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetField(self->tiff, TIFFTAG_IMAGEWIDTH, &header->width);
  TIFFGetField(self->tiff, TIFFTAG_IMAGELENGTH, &header->height);
  TIFFGetFieldDefaulted(self->tiff, TIFFTAG_ORIENTATION, &orientation);
  if (!check_size(header->width, header->height, &self->memory.source.limits, &status, text)) return status;
  status = begin(self, text);
  if (status != DecodeStatusOK) return status;
  self->hasPlainSamples = has_plain_samples(self);
  header->orientation = orientation;
  header->channels = self->channels = channels_of(self);
  header->profileCount = find_tiff_profile(self, &profile, text);
  return DecodeStatusOK;
}

uint32_t band_rows(const TIFFImage *self) {
  uint32_t rows = 0;
  TIFFGetFieldDefaulted(self->tiff, TIFFIsTiled(self->tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
  return rows == 0 || rows > self->reader.height ? self->reader.height : rows;
}

#endif
