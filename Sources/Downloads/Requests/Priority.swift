/// The urgency of a request compared with others that wait.
///
/// It orders everything that a request waits for: lookups in the disk cache, room in memory, downloads and decodes.
/// Among requests of equal priority, the one that has waited longest comes first. If several callers share the work,
/// the highest priority counts. A request that waits for the end of another one passes its priority to it. A change
/// takes effect at once, wherever the request waits.
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

extension Priority {
  /// One value for each priority, at the index of its raw value.
  @usableFromInline typealias Table<Value> = InlineArray<3, Value>
}
