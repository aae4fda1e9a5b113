#include "CDecoder.h"

#include <stdlib.h>
#include <string.h>

// Reads the number of an argument such as `--memory=100` if it has this name.
static void read_number(const char *argument, const char *name, uint64_t *number) {
  size_t length = strlen(name);
  if (strncmp(argument, name, length) == 0) *number = strtoull(argument + length, NULL, 10);
}

DecoderSettings decoder_settings(int count, char *const *arguments) {
  DecoderSettings settings = {.memory = UINT64_C(2) << 30, .seconds = 60};
  for (int index = 1; index < count; index++) {
    read_number(arguments[index], "--memory=", &settings.memory);
    read_number(arguments[index], "--seconds=", &settings.seconds);
    if (strcmp(arguments[index], "--unsafe") == 0) settings.isUnsafe = true;
  }
  return settings;
}
