/// The distribution of durations over fixed buckets.
struct Histogram: Hashable, Sendable {
  /// The upper bounds of the buckets in seconds, from a memory hit to the longest download.
  static let bounds = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
  ]

  /// The number of durations in each bucket, and above the last one.
  private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  /// The sum of all durations in nanoseconds.
  private(set) var nanoseconds = 0

  /// Creates an empty histogram.
  init() {}

  /// Adds a duration.
  mutating func record(nanoseconds: Int) {
    let seconds = Double(nanoseconds) / 1e9
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    self.nanoseconds = self.nanoseconds.addingReportingOverflow(nanoseconds).partialValue
  }
}
