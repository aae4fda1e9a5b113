public import HTTPTypes

/// A request for one transfer.
public struct TransferRequest: Sendable {
  /// The URL to fetch.
  public var source: SourceURL
  /// The header fields of the request.
  public var headerFields: HTTPFields
  /// The limits of the transfer.
  public var limits: TransferLimits

  /// Creates a request for `source`.
  public init(source: SourceURL, headerFields: HTTPFields = [:], limits: TransferLimits = TransferLimits()) {
    self.source = source
    self.headerFields = headerFields
    self.limits = limits
  }
}
