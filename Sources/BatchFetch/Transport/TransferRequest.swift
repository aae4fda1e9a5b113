public import HTTPTypes

/// One exchange with a server.
public struct TransferRequest: Sendable {
  /// What to ask for.
  public var source: SourceURL
  /// The request's header fields.
  public var headerFields: HTTPFields
  /// How long and how far the exchange may go.
  public var limits: TransferLimits

  /// A request for `source`.
  public init(source: SourceURL, headerFields: HTTPFields = [:], limits: TransferLimits = TransferLimits()) {
    self.source = source
    self.headerFields = headerFields
    self.limits = limits
  }
}
