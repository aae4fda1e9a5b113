import Glibc

/// The sanitizer that the tests and the command were built with.
public enum Sanitizer {
  /// True if the address or thread sanitizer is on.
  public static let isOn = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
