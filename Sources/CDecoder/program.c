// Runs the program: reads its settings, prepares the libraries, closes the sandbox, and serves the renderer.

#include "CDecoder.h"
#include "sandbox.h"
#include "session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

// MARK: Arguments and settings

static int argument_count;
static char **argument_list;

// glibc passes its initializers what it later passes to `main`.
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
  argument_count = count;
  argument_list = arguments;
}

int process_argument_count(void) { return argument_count; }

char *const *process_arguments(void) { return argument_list; }

// Reads the number of an argument such as `--memory=100` if it has this name.
static void read_number(const char *argument, const char *name, uint64_t *number) {
  size_t length = strlen(name);
  if (strncmp(argument, name, length) == 0) *number = strtoull(argument + length, NULL, 10);
}

DecoderSettings decoder_settings(int count, char *const *arguments) {
  DecoderSettings settings = {.memory = UINT64_C(2) << 30, .seconds = 60};
  for (int index = 1; index < count; index++) {
    read_number(arguments[index], "--memory=", &settings.memory);
    read_number(arguments[index], "--seconds=", &settings.seconds);
    if (strcmp(arguments[index], "--unsafe") == 0) settings.isUnsafe = true;
  }
  return settings;
}

// MARK: Lack of memory

// Ends the process with the status `ENOMEM` if the last failure of this thread was that there is no memory. Otherwise
// the signal does.
static void end(int number) {
  if (errno == ENOMEM) _exit(ENOMEM);
  raise(number);
}

void report_exhaustion(void) {
  // C++ and Rust end the process by SIGABRT, GLib by SIGTRAP, and libjxl by SIGILL.
  static const int signals[] = {SIGABRT, SIGTRAP, SIGILL};
  struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESETHAND};
  for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) sigaction(signals[index], &action, NULL);
}

// MARK: Program

static const char usage[] =
    "This program decodes images for thumbs in a sandbox. thumbs starts it; there is no other use. thumbs doctor\n"
    "shows its formats, libraries and protections.\n";

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
  bool opens_fonts = formats[DecodeFormatSVG] || formats[DecodeFormatPDF];
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
