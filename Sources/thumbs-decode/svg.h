// The functions that draw SVG documents, and those that prepare librsvg for them.

#ifndef SVG_H
#define SVG_H

#include <librsvg/rsvg.h>

#include <CDecoder.h>

/// Reads a document.
RsvgHandle *svg_read(const void *bytes, size_t count, GError **error);

/// Draws a document on `pixels`: numbers with premultiplied colors, of which blue is the lowest byte and alpha the
/// highest one.
cairo_status_t svg_draw(RsvgHandle *handle, uint8_t *pixels, int width, int height, GError **error);

/// Lets librsvg and its libraries load what they would when they need it.
void svg_prepare(void);

/// Lets librsvg start the thread that it would for the first filter.
void svg_start_threads(void);

/// Forgets the text that was drawn before.
void svg_begin_text(void);

/// Returns true if text was drawn since then although this process can open no fonts. The text is empty boxes then.
bool svg_lacks_fonts(void);

#endif
