/// Decides when a growing body is inspected: at first for every piece, later whenever it has grown by a quarter. An
/// inspection begins at the first byte, so without growth in between, many small pieces would take quadratic time.
struct InspectionPace {
  /// The number of bytes at which the next inspection is due; nil after the last one.
  private var next: Int? = 0

  /// Returns true if a body of `count` bytes is to be inspected.
  func isDue(at count: Int) -> Bool { next.map { count >= $0 } ?? false }

  /// Records an inspection of `count` bytes. No further one is due if it has accepted the body.
  mutating func inspected(_ count: Int, isAccepted: Bool) { next = isAccepted ? nil : count + count / 4 }
}
