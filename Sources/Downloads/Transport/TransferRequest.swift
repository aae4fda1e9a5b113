public import HTTPTypes

/// A request for one transfer: one HTTP request and its response.
public struct TransferRequest: Sendable {
  /// The URL to fetch.
  public var source: SourceURL
  /// The header fields of the request.
  public var headerFields: HTTPFields
  /// The limits of the transfer.
  public var limits: TransferLimits
  /// The part of ``TransferLimits/total`` that earlier transfers of the same attempt have used, before redirects.
  /// Default zero.
  public var elapsed = Duration.zero
  /// True if the transport may add its own credentials, for example from a `.netrc` file. False after a redirect to
  /// another host. Default true.
  public var addsCredentials = true
  /// The rules for bodies. A transport may drop those that they do not keep. Default: only the body of a 200 or 206
  /// response is kept.
  public var responses = ResponseRules.image
  /// The body of a PUT request; nil for a GET request.
  package var upload: [UInt8]?
  /// The signature of the request; nil for none.
  package var signature: RequestSignature?

  /// Creates a request for `source`.
  public init(source: SourceURL, headerFields: HTTPFields = [:], limits: TransferLimits = TransferLimits()) {
    self.source = source
    self.headerFields = headerFields
    self.limits = limits
  }
}
