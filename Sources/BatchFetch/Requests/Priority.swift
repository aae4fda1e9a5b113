/// The urgency of a request compared with others that wait. If several callers share the work, the highest priority
/// counts.
public enum Priority: Int, Comparable, CaseIterable, Sendable {
  /// For work such as prefetching, which starts when nothing more urgent waits.
  case low
  /// The default.
  case normal
  /// For images that are missing on screen, which start before everything else.
  case high

  /// Returns true if `a` is less urgent than `b`.
  public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}
