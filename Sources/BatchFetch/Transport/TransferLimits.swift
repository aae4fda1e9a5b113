/// How long and how far one attempt may go. Every duration is from zero to 20 days, every number from zero; what is
/// outside counts as the nearest end.
public struct TransferLimits: Hashable, Sendable {
  /// Name look-up; and, from then on, connection and TLS handshake. Default 5 s each.
  public var connect: Duration = .seconds(5)
  /// From the start to the first byte of the answer, anew with each redirect. Default 15 s.
  public var firstByte: Duration = .seconds(15)
  /// The whole attempt. Default 60 s.
  public var total: Duration = .seconds(60)
  /// The slowest acceptable speed in bytes a second, over ``stallInterval``. Default 1024.
  public var lowestSpeed: Int = 1024
  /// How long the speed may stay below ``lowestSpeed``. Whole seconds, default 10 s.
  public var stallInterval: Duration = .seconds(10)
  /// The longest body in bytes, after content codings are undone. Default 32 MiB.
  public var maxBytes: Int = 32 << 20
  /// Redirects to follow. Default 5.
  public var maxRedirects: Int = 5
  /// Which addresses may be connected to, on every hop. Default: all but link-local and metadata addresses.
  public var addresses: AddressPolicy = .noLinkLocal

  /// Bytes to read of a body that nobody wants. Reading the rest of a small answer keeps its connection; a larger one
  /// costs more than a new connection.
  static let maxUnwantedBytes = 64 << 10

  /// The defaults.
  public init() {}

  /// The same with every value in its range. What libcurl is given beyond it would be no limit at all.
  var inRange: TransferLimits {
    var limits = self
    for duration in [\TransferLimits.connect, \.firstByte, \.total, \.stallInterval] {
      limits[keyPath: duration] = limits[keyPath: duration].clamped(to: .waiting)
    }
    for number in [\TransferLimits.lowestSpeed, \.maxBytes, \.maxRedirects] {
      limits[keyPath: number] = max(0, limits[keyPath: number])
    }
    return limits
  }
}
