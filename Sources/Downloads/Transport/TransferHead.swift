public import HTTPTypes

/// The head of a response. A transport sets the response alone; a download adds the redirects that led to it.
public struct TransferHead: Hashable, Sendable {
  /// The status and the header fields.
  public var response: HTTPResponse
  /// The URL after redirects, without credentials; nil if it is the requested one.
  public var finalURL: String?
  /// The redirects that were followed, in order. Caches need them, because a response is only as fresh as the least
  /// fresh of its redirects (RFC 9111). Default: none.
  public var redirects: [Redirect]
  /// True if a cache may serve the response to requests with the same key, which includes ``Transport/variant(of:)``.
  /// False if a redirect led to a host that this transport treats differently, for example without verifying its
  /// certificate. Default true.
  public var isCacheable: Bool

  /// True if the server that responded, or one that redirected to it, has an IP address that is not on the public
  /// Internet. False if the address is unknown, as behind a proxy. Default false.
  public var isPrivate = false

  /// True if the target of the last redirect was not requested. See ``DownloadRequest/freshTarget``.
  var isTargetReused = false

  /// Creates a head from its parts.
  public init(
    response: HTTPResponse, finalURL: String? = nil, redirects: [Redirect] = [], isCacheable: Bool = true
  ) {
    self.response = response
    self.finalURL = finalURL
    self.redirects = redirects
    self.isCacheable = isCacheable
  }

  /// The length of the body in bytes, as the server declares it; nil without a declaration, or if the body has a
  /// content coding.
  public var declaredLength: Int? {
    var values: [String] = []
    for field in response.headerFields {
      if field.name == .contentEncoding { return nil }
      if field.name == .contentLength { values.append(field.value) }
    }
    // Fields with the same name count as one, with commas between their values.
    return values.count == 1 ? Int(values[0]) : nil
  }
}

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

extension HTTPResponse {
  /// True for a 206 that contains the complete body, which some servers send although no range was requested. Such a
  /// response is equivalent to a 200 (RFC 9110, sections 14.4 and 15.3.7).
  var holdsWholeRange: Bool {
    guard status == .partialContent, let range = headerFields[.contentRange] else { return false }
    let numbers = range.split { !$0.isNumber }.compactMap { Int($0) }
    return range.hasPrefix("bytes 0-") && numbers.count == 3 && numbers[2] > 0 && numbers[1] == numbers[2] - 1
  }
}
