public import HTTPTypes

/// A redirect that was followed.
public struct Redirect: Hashable, Sendable {
  /// The URL that was requested, without credentials.
  public var url: String
  /// The response: its status and its header fields.
  public var response: HTTPResponse

  /// Creates the redirect from `url` with `response`.
  public init(url: String, response: HTTPResponse) {
    self.url = url
    self.response = response
  }
}
