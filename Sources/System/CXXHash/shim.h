// Header-only mode: the hash is compiled into its caller.
#define XXH_INLINE_ALL
#include <xxhash.h>

// The header renames its inline functions with macros, which Swift does not import.
static inline uint64_t xxh3_64(const void *bytes, size_t count, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, count, seed);
}

static inline uint64_t xxh64(const void *bytes, size_t count, uint64_t seed) { return XXH64(bytes, count, seed); }
