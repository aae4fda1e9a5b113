// Header only: the hash is compiled into its caller.
#define XXH_INLINE_ALL
#include <xxhash.h>
