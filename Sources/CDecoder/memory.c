#include "session.h"

#include <malloc.h>

// The free memory that stays for the next image.
enum { KEPT = 32 << 20 };

void keep_memory(void) {
  mallopt(M_MMAP_THRESHOLD, KEPT);
  mallopt(M_TRIM_THRESHOLD, KEPT);
}

void trim_memory(void) {
  // glibc trims only the end of the heap by itself, where a small block is enough to keep all before it.
  if (mallinfo2().fordblks > KEPT) malloc_trim(KEPT);
}
