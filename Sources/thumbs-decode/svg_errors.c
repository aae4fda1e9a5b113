// Converts the errors of librsvg.

#if __has_include(<librsvg/rsvg.h>)

#include "svg.h"

#include <string.h>

/// Parts of the messages of librsvg and libxml2, which have no codes for these causes, and what they mean.
static const struct Cause {
  const char *message;
  DecodeStatus status;
} causes[] = {
  {"exceeded more than", DecodeStatusLimit},
  {"cannot load more than", DecodeStatusLimit},
  {"entity reference loop", DecodeStatusLimit},
  {"entity amplification", DecodeStatusLimit},
  {"Excessive depth", DecodeStatusLimit},
  {"nested layers", DecodeStatusLimit},
  {"InvalidSize", DecodeStatusLimit},
  {"Premature end of data", DecodeStatusTruncated},
  // The end of compressed data.
  {"Need more input", DecodeStatusTruncated},
  // Compressed files are only known to be compressed.
  {"does not have <svg> root", DecodeStatusNotAnImage},
  {"Start tag expected", DecodeStatusNotAnImage},
  {"Document is empty", DecodeStatusNotAnImage},
};

DecodeStatus svg_explain(GError *error, DecodeText *text) {
  DecodeStatus status = DecodeStatusCorrupt;
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
    if (strstr(error->message, causes[i].message) != NULL) status = causes[i].status;
  }
  fail(status, text, "%s", g_strchomp(error->message));
  g_error_free(error);
  return status;
}

#endif
