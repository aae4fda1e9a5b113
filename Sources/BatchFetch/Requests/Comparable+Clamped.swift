extension Comparable {
  /// The value, or the nearest end of `range`.
  func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}

extension ClosedRange<Duration> {
  /// How long anything may be waited for: what libcurl can count in milliseconds, and a little less.
  static var waiting: ClosedRange<Duration> { .zero ... .seconds(20 * 86_400) }
}
