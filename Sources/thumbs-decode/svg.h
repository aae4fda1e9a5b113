// The parts that draw SVG.

#ifndef SVG_H
#define SVG_H

#include <librsvg/rsvg.h>

#include <CDecoder.h>

/// The resolution of CSS, in pixels per inch (CSS Values and Units, section 6.2).
enum { svg_resolution = 96 };

/// Sets the size of the header. An image that is larger than the limits is declared smaller, because it can have any.
DecodeStatus svg_read_size(RsvgHandle *handle, const Limits *limits, DecodeHeader *header, DecodeText *text);

/// Returns the viewport in which the document fills a surface, and scales the context if librsvg does not.
RsvgRectangle svg_scale(RsvgHandle *handle, cairo_t *context, int width, int height);

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

/// Forgets the text that was drawn before.
void svg_begin_text(void);

/// Returns true if text was drawn since then although this process can open no fonts. The text is empty boxes then.
bool svg_lacks_fonts(void);

#endif
