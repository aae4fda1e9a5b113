/// How long and how far one attempt may go.
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

  /// The defaults.
  public init() {}
}
