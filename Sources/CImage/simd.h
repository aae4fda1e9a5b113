// Vectors as wide as the machine has.

#ifndef CIMAGE_SIMD_H
#define CIMAGE_SIMD_H

// The same C, compiled twice where the system can choose at load time: the wider vectors halve the time. The choice
// runs before anything else, which the thread sanitizer's instrumentation of it does not survive.
#if __has_feature(thread_sanitizer)
#define WITH_AVX2
#elif defined(__x86_64__) && defined(__linux__) && !defined(__AVX2__)
#define WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define WITH_AVX2
#endif

#endif
