/// Where the time of one request went.
public struct Timings: Hashable, Sendable {
  /// From the request to the first byte asked of a server, or to the answer of a cache.
  public var queued: Duration
  /// From the first attempt to the last byte, with the pauses between attempts.
  public var download: Duration
  /// Decoding, resizing and encoding.
  public var render: Duration

  /// Timings from their parts, each zero by default.
  public init(queued: Duration = .zero, download: Duration = .zero, render: Duration = .zero) {
    self.queued = queued
    self.download = download
    self.render = render
  }
}
