import Glibc

/// How much memory this process has had at once.
public enum MemoryPeak {
  /// Bytes of resident memory at the highest so far.
  public static func ofProcess() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    // Kibibytes on Linux (getrusage(2)).
    return usage.ru_maxrss * 1024
  }
}
