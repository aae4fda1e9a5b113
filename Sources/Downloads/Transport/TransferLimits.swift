/// The limits of one attempt. Durations range from zero to 20 days, and numbers start at zero. A value outside counts
/// as the nearest bound.
public struct TransferLimits: Hashable, Sendable {
  /// The maximum time for the name lookup, and again for connecting with its TLS handshake. Default 5 s.
  public var connect: Duration = .seconds(5)
  /// The maximum time from the start, or from a redirect, to the first byte of the response. Default 15 s.
  public var firstByte: Duration = .seconds(15)
  /// The maximum time for the whole attempt. Default 60 s.
  public var total: Duration = .seconds(60)
  /// The minimum speed in bytes per second, averaged over ``stallInterval``. Default 1024.
  public var lowestSpeed: Int = 1024
  /// The time for which the speed may stay below ``lowestSpeed``, in whole seconds. Default 10 s.
  public var stallInterval: Duration = .seconds(10)
  /// The maximum length of the body in bytes, after content codings are decoded. Default 32 MiB.
  public var maxBytes: Int = 32 << 20
  /// The maximum number of redirects to follow, at most 100, because all of them are kept and reported. Default 20, as
  /// in browsers (Fetch standard, section 4.4).
  public var maxRedirects: Int = 20
  /// The rule for IP addresses, checked on every hop. Default: all except link-local and metadata addresses.
  public var addresses: AddressPolicy = .noLinkLocal

  /// The maximum number of bytes to read from an unwanted body, such as an error page. Reading a short one to its end
  /// keeps the connection open for reuse; a longer one costs more than a new connection.
  package static let maxUnwantedBytes = 64 << 10

  /// Creates the default limits.
  public init() {}

  /// The limits of a download into a file: of any length, and for any time, as long as it keeps coming.
  var forFiles: TransferLimits {
    var limits = self
    (limits.total, limits.maxBytes) = (ClosedRange.waiting.upperBound, .max)
    return limits
  }

  /// The limits with every value clamped to its range. libcurl would take some values outside as no limit at all.
  var inRange: TransferLimits {
    var limits = self
    limits.connect = connect.clamped(to: .waiting)
    limits.firstByte = firstByte.clamped(to: .waiting)
    limits.total = total.clamped(to: .waiting)
    limits.stallInterval = stallInterval.clamped(to: .waiting)
    limits.lowestSpeed = max(0, lowestSpeed)
    limits.maxBytes = max(0, maxBytes)
    limits.maxRedirects = maxRedirects.clamped(to: 0...100)
    return limits
  }
}

extension Comparable {
  /// Returns the value, or the nearest bound of `range` if the value is outside.
  package func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}

extension ClosedRange<Duration> {
  /// Valid timeouts and delays: zero to 20 days, whose milliseconds fit in 32 bits for libcurl.
  static var waiting: ClosedRange<Duration> { .zero ... .seconds(20 * 86_400) }
}
