// The size of an SVG document.

#ifndef SVG_SIZE_H
#define SVG_SIZE_H

#include <librsvg/rsvg.h>

#include <CDecoder.h>

/// The resolution of CSS, in pixels per inch (CSS Values and Units, section 6.2).
enum { svg_resolution = 96 };

/// Sets the size of the header. An image that is larger than the limits is declared smaller, because it can have any.
DecodeStatus svg_read_size(RsvgHandle *handle, const Limits *limits, DecodeHeader *header, DecodeText *text);

/// Returns the viewport in which the document fills a surface, and scales the context if librsvg does not.
RsvgRectangle svg_scale(RsvgHandle *handle, cairo_t *context, int width, int height);

#endif
