// The size of an SVG document.

#include "formats.h"

#if __has_include(<librsvg/rsvg.h>)

#include "svg_size.h"

#include <math.h>

/// The size of an image that declares none, as in browsers.
static const double defaultWidth = 300, defaultHeight = 150;

/// The largest side of a surface of cairo.
enum { maxSide = 32767 };

/// Returns a length in pixels, or 0 if it is relative to something else.
static double pixels_of(RsvgLength length) {
  switch (length.unit) {
    case RSVG_UNIT_PX:
      return length.length;
    case RSVG_UNIT_IN:
      return length.length * svg_resolution;
    case RSVG_UNIT_CM:
      return length.length * svg_resolution / 2.54;
    case RSVG_UNIT_MM:
      return length.length * svg_resolution / 25.4;
    case RSVG_UNIT_PT:
      return length.length * svg_resolution / 72;
    case RSVG_UNIT_PC:
      return length.length * svg_resolution / 6;
    default:
      return 0;
  }
}

/// Returns the size in pixels. What is not declared follows from the aspect ratio of the view box, or is the default
/// (CSS Images, section 5.3).
static void find_size(RsvgHandle *handle, double *width, double *height) {
  gboolean hasWidth = FALSE, hasHeight = FALSE, hasBox = FALSE;
  RsvgLength declaredWidth, declaredHeight;
  RsvgRectangle box;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle, width, height)) return;
  rsvg_handle_get_intrinsic_dimensions(handle, &hasWidth, &declaredWidth, &hasHeight, &declaredHeight, &hasBox, &box);
  *width = hasWidth ? pixels_of(declaredWidth) : 0;
  *height = hasHeight ? pixels_of(declaredHeight) : 0;
  if (!hasBox) {
    if (*width == 0) *width = defaultWidth;
    if (*height == 0) *height = defaultHeight;
  } else if (*width != 0) {
    *height = *width * box.height / box.width;
  } else if (*height != 0) {
    *width = *height * box.width / box.height;
  } else {
    *width = box.width;
    *height = box.height;
  }
}

/// Returns the factor by which an image is within the limits.
static double limit_scale(double width, double height, const Limits *limits) {
  double scale = fmin(1, fmin(limits->side, maxSide) / fmax(width, height));
  double pixels = width * height;
  return pixels > (double)limits->pixels ? fmin(scale, sqrt((double)limits->pixels / pixels)) : scale;
}

DecodeStatus svg_read_size(RsvgHandle *handle, const Limits *limits, DecodeHeader *header, DecodeText *text) {
  double width, height;
  DecodeStatus status = DecodeStatusOK;
  find_size(handle, &width, &height);
  if (!isfinite(width) || !isfinite(height) || width <= 0 || height <= 0) {
    return fail(DecodeStatusCorrupt, text, "the image has no size");
  }
  double scale = limit_scale(ceil(width), ceil(height), limits);
  header->width = (uint32_t)fmax(1, floor(ceil(width) * scale));
  header->height = (uint32_t)fmax(1, floor(ceil(height) * scale));
  check_size(header->width, header->height, limits, &status, text);
  return status;
}

/// Returns true if librsvg adapts the document to the viewport.
static bool is_scalable(RsvgHandle *handle) {
  gboolean hasBox = FALSE;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle, NULL, NULL)) return true;
  rsvg_handle_get_intrinsic_dimensions(handle, NULL, NULL, NULL, NULL, &hasBox, NULL);
  return hasBox;
}

RsvgRectangle svg_scale(RsvgHandle *handle, cairo_t *context, int width, int height) {
  RsvgRectangle viewport = {0, 0, width, height};
  if (is_scalable(handle)) return viewport;
  find_size(handle, &viewport.width, &viewport.height);
  cairo_scale(context, width / viewport.width, height / viewport.height);
  return viewport;
}

#endif
