// Reads and draws SVG documents, with librsvg.

#if __has_include(<librsvg/rsvg.h>)

#include "svg.h"

#include "svg_size.h"

RsvgHandle *svg_read(const void *bytes, size_t count, GError **error) {
  GBytes *data = g_bytes_new_static(bytes, count);
  GInputStream *stream = g_memory_input_stream_new_from_bytes(data);
  // Without a base file, librsvg follows no reference to another file.
  RsvgHandle *handle = rsvg_handle_new_from_stream_sync(stream, NULL, RSVG_HANDLE_FLAGS_NONE, NULL, error);
  g_object_unref(stream);
  g_bytes_unref(data);
  if (handle != NULL) rsvg_handle_set_dpi(handle, svg_resolution);
  return handle;
}

cairo_status_t svg_draw(RsvgHandle *handle, uint8_t *pixels, int width, int height, GError **error) {
  cairo_surface_t *surface =
    cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32, width, height, 4 * width);
  cairo_t *context = cairo_create(surface);
  cairo_status_t status = cairo_status(context);
  const RsvgRectangle viewport = svg_scale(handle, context, width, height);
  if (status == CAIRO_STATUS_SUCCESS && rsvg_handle_render_document(handle, context, &viewport, error)) {
    status = cairo_status(context);
  }
  cairo_destroy(context);
  cairo_surface_destroy(surface);
  return status;
}

#endif
