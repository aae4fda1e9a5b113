import Glibc

/// What the tests, and the command beside them, were built with.
enum Sanitizer {
  /// Whether the address or the thread sanitizer watches.
  static let isOn = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
