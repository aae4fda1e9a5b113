// Copies text from the libraries into the caller's fixed-size buffers.

#ifndef CIMAGE_MESSAGES_H
#define CIMAGE_MESSAGES_H

#include "CImage.h"

/// Sets the reason for a failure.
void cimage_set_error(CImageMessages *messages, const char *text);

/// Adds one line to the warnings, unless it is already there or does not fit.
void cimage_add_warning(CImageMessages *messages, const char *text);

#endif
