// Text out of the libraries, into the caller's fixed buffers.

#ifndef CIMAGE_MESSAGES_H
#define CIMAGE_MESSAGES_H

#include "CImage.h"

/// Keeps `text` as the reason of a failure.
void cimage_set_error(CImageMessages *messages, const char *text);

/// Adds one line of warning, unless it is there already or there is no room.
void cimage_add_warning(CImageMessages *messages, const char *text);

#endif
