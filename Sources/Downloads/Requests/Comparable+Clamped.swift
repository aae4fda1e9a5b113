extension Comparable {
  /// Returns the value, or the nearest bound of `range` if the value is outside.
  package func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}

extension ClosedRange<Duration> {
  /// Valid timeouts and delays: zero to 20 days, whose milliseconds fit in 32 bits for libcurl.
  static var waiting: ClosedRange<Duration> { .zero ... .seconds(20 * 86_400) }
}
