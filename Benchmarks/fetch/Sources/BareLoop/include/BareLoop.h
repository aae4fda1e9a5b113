#include <stddef.h>

/// Downloads `count` URLs into memory, `width` at once, using only libcurl's multi interface. Returns the number of
/// responses with status 200, and the sum of their lengths in `bytes`.
///
/// `authorities` is the path of a PEM file with certificate authorities to trust; null for the system's.
size_t bare_loop(const char *const *urls, size_t count, size_t width, const char *authorities, size_t *bytes);
