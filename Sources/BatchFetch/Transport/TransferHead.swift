public import HTTPTypes

/// The head of an answer.
public struct TransferHead: Hashable, Sendable {
  /// Status and header fields.
  public var response: HTTPResponse
  /// The address that answered, after redirects, without credentials; nil where it is the one asked for.
  public var finalURL: String?
  /// The redirects that were followed, in order. A cache needs them: the answer is as fresh as the least fresh of all
  /// (RFC 9111). Default: none.
  public var redirects: [HTTPResponse]
  /// Whether a cache may keep the answer for others who ask the same of a transport whose ``Transport/variant(of:)`` says
  /// the same. False where a redirect led to a host for which this transport has other rules, such as an unchecked
  /// certificate. Default true.
  public var isCacheable: Bool

  /// A head from its parts.
  public init(
    response: HTTPResponse, finalURL: String? = nil, redirects: [HTTPResponse] = [], isCacheable: Bool = true
  ) {
    self.response = response
    self.finalURL = finalURL
    self.redirects = redirects
    self.isCacheable = isCacheable
  }

  /// The body's length as the server declares it; nil where it does not, or where the body is coded.
  public var declaredLength: Int? {
    guard response.headerFields[.contentEncoding] == nil else { return nil }
    return response.headerFields[.contentLength].flatMap { Int($0) }
  }
}
