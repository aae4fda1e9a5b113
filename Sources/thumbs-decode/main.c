// Decodes images of formats that are not trusted, for the renderer of thumbnails that starts this program: AVIF, HEIC,
// JPEG XL, SVG and TIFF. The image and its pixels are in shared memory; CDecodeChannel.h has the messages.
//
// Before the first byte of an image is read, the process gives up whatever it does not need: files, the network, other
// programs, and all but some memory and time.

#include <malloc.h>

#include "formats.h"

// Keeps some memory for the next image. By default, glibc gives most of it back to the system after each image, and the
// page faults take a sixth of the time of JPEG XL.
static void keep_memory(void) {
  enum { KEPT = 32 << 20 };
  mallopt(M_MMAP_THRESHOLD, KEPT);
  mallopt(M_TRIM_THRESHOLD, KEPT);
}

int main(int count, char **arguments) {
  const Format *const formats[DecodeFormatCount] = {
      [DecodeFormatAVIF] = decode_avif, [DecodeFormatHEIC] = decode_heic, [DecodeFormatJPEGXL] = decode_jpegxl,
      [DecodeFormatSVG] = decode_svg, [DecodeFormatTIFF] = decode_tiff};
  keep_memory();
  return decoder_main(count, arguments, formats);
}
