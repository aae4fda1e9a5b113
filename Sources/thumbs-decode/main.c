// Decodes images of formats that are not trusted, for the renderer of thumbnails that starts this program: AVIF, HEIC,
// JPEG 2000, JPEG XL, PSD, SVG, TIFF, and the previews of camera raw files. The image and its pixels are in shared
// memory; CDecodeChannel.h has the messages.
//
// Before the first byte of an image is read, the process gives up whatever it does not need: files, the network, other
// programs, and all but some memory and time.

#include "formats.h"

int main(int count, char **arguments) {
  const Format *const formats[DecodeFormatCount] = {
      [DecodeFormatAVIF] = decode_avif, [DecodeFormatHEIC] = decode_heic, [DecodeFormatJPEGXL] = decode_jpegxl,
      [DecodeFormatSVG] = decode_svg, [DecodeFormatTIFF] = decode_tiff, [DecodeFormatPSD] = decode_psd,
      [DecodeFormatRaw] = decode_raw, [DecodeFormatJPEG2000] = decode_jpeg2000};
  return decoder_main(count, arguments, formats);
}
