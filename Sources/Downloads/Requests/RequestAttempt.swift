public import HTTPTypes

/// One attempt of a download, as a ``RequestModifier`` sees and changes it.
public struct RequestAttempt: Sendable {
  /// The number of the attempt, from 1.
  public let number: Int
  /// The failure of the last attempt, such as `http_401`; nil if there was none.
  public let lastFailure: FailureCode?
  /// The URL to request. Another path or query is possible; another scheme or host fails the attempt with `bad_url`.
  public var source: SourceURL
  /// The header fields of the request, without those of the downloader and the host. A field about the length of the
  /// message or its connection fails the attempt with `bad_row`.
  public var headerFields: HTTPFields

  /// Creates an attempt, for tests of modifiers.
  public init(number: Int, lastFailure: FailureCode? = nil, source: SourceURL, headerFields: HTTPFields = [:]) {
    self.number = number
    self.lastFailure = lastFailure
    self.source = source
    self.headerFields = headerFields
  }

  /// Checks a modified attempt. The place in the queue belongs to the host of `original`.
  func check(against original: RequestAttempt) throws(FetchFailure) {
    guard source.scheme == original.source.scheme, source.host == original.source.host else {
      throw FetchFailure(.badURL, "A modifier must not change the scheme or the host of a request.")
    }
    try headerFields.checkFraming()
  }
}
