// Function multiversioning for wider vectors.

#ifndef CIMAGE_SIMD_H
#define CIMAGE_SIMD_H

// Compiles a function twice, with and without AVX2, where the loader can choose one; the wider vectors halve the time.
// Not with the thread sanitizer: the resolver runs before the sanitizer is initialized, and its instrumentation
// crashes.
#if __has_feature(thread_sanitizer)
#define WITH_AVX2
#elif defined(__x86_64__) && defined(__linux__) && !defined(__AVX2__)
#define WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define WITH_AVX2
#endif

#endif
