// Notices that text is drawn without fonts.

#include "formats.h"

#if __has_include(<librsvg/rsvg.h>)

#include "svg_fonts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

static bool has_text;

typedef void SetText(void *layout, const char *text, int length);

/// Takes the place of Pango's function, which librsvg calls for each text that it draws.
SetText pango_layout_set_text;

void pango_layout_set_text(void *layout, const char *text, int length) {
  has_text = true;
  SetText *original = (SetText *)dlsym(RTLD_NEXT, "pango_layout_set_text");
  if (original != NULL) original(layout, text, length);
}

void svg_begin_text(void) { has_text = false; }

/// Returns true if there are fonts within reach. Without Landlock, which would let the process open nothing else, it
/// can open no file at all.
static bool can_open_fonts(void) {
  static const char *const folders[] = {"/usr/share/fonts", "/usr/local/share/fonts"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    int folder = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) continue;
    close(folder);
    return true;
  }
  return false;
}

bool svg_lacks_fonts(void) { return has_text && !can_open_fonts(); }

#endif
