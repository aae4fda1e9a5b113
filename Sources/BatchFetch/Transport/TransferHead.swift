public import HTTPTypes

/// The head of an answer.
public struct TransferHead: Sendable {
  /// Status and header fields.
  public var response: HTTPResponse
  /// The address that answered, after redirects, without credentials; nil where it is the one asked for.
  public var finalURL: String?

  /// A head from its parts.
  public init(response: HTTPResponse, finalURL: String? = nil) {
    self.response = response
    self.finalURL = finalURL
  }

  /// The body's length as the server declares it; nil where it does not, or where the body is coded.
  public var declaredLength: Int? {
    guard response.headerFields[.contentEncoding] == nil else { return nil }
    return response.headerFields[.contentLength].flatMap { Int($0) }
  }
}
