/// The urgency of a request compared with others that wait. If several callers share the work, the highest priority
/// counts.
public enum Priority: Int, Comparable, CaseIterable, Sendable {
  /// Starts when nothing more urgent waits, such as prefetching.
  case low
  /// The default.
  case normal
  /// Starts before everything else, such as an image whose place on screen is still empty.
  case high

  /// Returns true if `a` is less urgent than `b`.
  public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}
