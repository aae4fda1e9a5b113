import Glibc

/// The peak memory use of this process.
public enum MemoryPeak {
  /// Returns the peak of resident memory so far, in bytes.
  public static func ofProcess() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    // Linux reports kibibytes (getrusage(2)).
    return usage.ru_maxrss * 1024
  }
}
