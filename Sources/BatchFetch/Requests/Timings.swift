/// The time that one request spent in each stage.
public struct Timings: Hashable, Sendable {
  /// From the request to the first attempt, or to the cache hit.
  public var queued: Duration
  /// From the first attempt to the last byte, including the delays between attempts.
  public var download: Duration
  /// Decoding, resizing and encoding.
  public var render: Duration

  /// Creates timings from their parts, each zero by default.
  public init(queued: Duration = .zero, download: Duration = .zero, render: Duration = .zero) {
    self.queued = queued
    self.download = download
    self.render = render
  }
}
