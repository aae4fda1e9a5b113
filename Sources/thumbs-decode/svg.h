// The parts that draw SVG.

#ifndef SVG_H
#define SVG_H

#include "formats.h"

#include <librsvg/rsvg.h>

/// Reads a document.
RsvgHandle *svg_read(const void *bytes, size_t count, GError **error);

/// Draws a document on `pixels`: numbers with premultiplied colors, of which blue is the lowest byte and alpha the
/// highest one.
cairo_status_t svg_draw(RsvgHandle *handle, uint8_t *pixels, int width, int height, GError **error);

/// Sets the error of `text` to librsvg's message, clears `error`, and returns the status.
DecodeStatus svg_explain(GError *error, DecodeText *text);

/// Lets librsvg and its libraries load what they would when they need it.
void svg_prepare(void);

/// Lets librsvg start the thread that it would for the first filter.
void svg_start_threads(void);

#endif
