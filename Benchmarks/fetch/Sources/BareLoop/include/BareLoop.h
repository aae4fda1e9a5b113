#include <stddef.h>

/// Downloads `count` URLs into memory, `width` at once, with nothing but libcurl's multi interface. Returns how many
/// came with status 200; `bytes` is the sum of their lengths.
size_t bare_loop(const char *const *urls, size_t count, size_t width, size_t *bytes);
