#include "CDecoder.h"

static int argument_count;
static char **argument_list;

// glibc passes its initializers what it later passes to `main`.
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
  argument_count = count;
  argument_list = arguments;
}

int process_argument_count(void) { return argument_count; }

char *const *process_arguments(void) { return argument_list; }
