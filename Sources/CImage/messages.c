#include "messages.h"

#include <stdio.h>
#include <string.h>

void cimage_set_error(CImageMessages *messages, const char *text) {
  snprintf(messages->error, sizeof messages->error, "%s", text);
}

void cimage_add_warning(CImageMessages *messages, const char *text) {
  char *lines = messages->warnings;
  size_t used = strlen(lines), length = strlen(text);
  if (length == 0 || strstr(lines, text) != NULL || used + length + 2 > sizeof messages->warnings) return;
  snprintf(lines + used, sizeof messages->warnings - used, "%s%s", used > 0 ? "\n" : "", text);
}
