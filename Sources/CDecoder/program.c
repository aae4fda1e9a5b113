#include "CDecoder.h"
#include "sandbox.h"
#include "session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

static const char usage[] =
    "thumbs-decode decodes AVIF, HEIC, JPEG XL, SVG and TIFF images for thumbs, and encodes AVIF, in a sandbox.\n"
    "thumbs starts it; there is no other use. thumbs doctor shows its libraries and protections.\n";

// Adds the format and the library to the greeting. Lets the library load what it will need.
static void prepare(const Format *format, DecodeHello *hello) {
  hello->formats |= 1u << format->id;
  if (format->encode && format->can_encode()) hello->encoders |= 1u << format->id;
  size_t length = strlen(hello->libraries);
  snprintf(hello->libraries + length, sizeof hello->libraries - length, "%s\n", format->library());
  if (format->prepare) format->prepare();
}

static void start_threads(const Format *const *formats) {
  for (uint32_t id = 0; id < DecodeFormatCount; id++) {
    if (formats[id] && formats[id]->start_threads) formats[id]->start_threads();
  }
}

// Closes the sandbox. Returns the protections that hold.
static uint32_t protect(const Format *const *formats, const DecoderSettings *settings) {
  bool opens_fonts = formats[DecodeFormatSVG] != NULL;
  uint32_t protections = close_files(opens_fonts);
  start_threads(formats);
  return close_sandbox(opens_fonts, settings, protections);
}

// Serves a renderer. Without enough protections, only if it has allowed that.
static int run(const Format *const *formats, const DecoderSettings *settings) {
  DecodeHello hello = {.version = DecodeVersion};
  for (uint32_t id = 0; id < DecodeFormatCount; id++) {
    if (formats[id]) prepare(formats[id], &hello);
  }
  hello.protections = protect(formats, settings);
  hello.isProtected = is_enough(hello.protections);
  hello.hasFilter = has_filter();
  if (decode_send(DecodeSocket, &hello, sizeof hello, -1) < 0) return EX_IOERR;
  return hello.isProtected || settings->isUnsafe ? serve(DecodeSocket, formats) : EX_UNAVAILABLE;
}

static bool is_started_by_renderer(void) {
  struct stat file;
  return fstat(DecodeSocket, &file) == 0 && S_ISSOCK(file.st_mode);
}

int decoder_main(int count, char **arguments, const Format *const formats[DecodeFormatCount]) {
  DecoderSettings settings = decoder_settings(count, arguments);
  keep_memory();
  if (is_started_by_renderer()) return run(formats, &settings);
  fputs(usage, stderr);
  return EX_USAGE;
}
