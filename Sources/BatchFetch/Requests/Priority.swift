/// The urgency of a request or a download among those that wait.
///
/// If several callers share one piece of work, the highest of their priorities counts.
public enum Priority: Int, Comparable, CaseIterable, Sendable {
  /// For prefetching: served when nothing else waits.
  case low
  /// The default.
  case normal
  /// For an image that a user is looking for right now.
  case high

  /// Returns true if `a` is less urgent than `b`.
  public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}
