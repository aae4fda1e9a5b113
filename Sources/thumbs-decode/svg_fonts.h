// The fonts for the text of SVG documents.

#ifndef SVG_FONTS_H
#define SVG_FONTS_H

#include <stdbool.h>

/// Forgets the text that was drawn before.
void svg_begin_text(void);

/// Returns true if text was drawn since then although this process can open no fonts. The text is empty boxes then.
bool svg_lacks_fonts(void);

#endif
