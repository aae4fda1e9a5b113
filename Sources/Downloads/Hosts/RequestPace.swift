/// Spaces the requests to one host evenly, so that no more than the rate allows start in any period. A plain value;
/// times are those of the injected clock.
struct RequestPace: Sendable {
  /// Requests take different times to reach the server. Without a margin, it could see one request too many in a
  /// period.
  private static let margin = Duration.milliseconds(50)

  private let interval: Duration
  /// The earliest time for the next request.
  private(set) var next = Duration.zero

  init(_ rate: RequestRate) { interval = (rate.period + Self.margin) / rate.count }

  /// Records a request.
  mutating func record(at now: Duration) { next = now + interval }
}
