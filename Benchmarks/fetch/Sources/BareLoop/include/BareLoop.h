#include <stddef.h>

/// Downloads `count` URLs into memory, `width` at once, using only libcurl's multi interface. Returns the number of
/// responses with status 200, and the sum of their lengths in `bytes`.
size_t bare_loop(const char *const *urls, size_t count, size_t width, size_t *bytes);
