internal import HTTPTypes

/// Decides which responses of a download are a success, and which bytes of the others are kept.
///
/// ```swift
/// request.responses.statuses = .codes([200, 404])
/// request.responses.maxErrorBytes = 4096
/// ```
public struct ResponseRules: Hashable, Sendable {
  /// The final statuses that are a success. Any other status fails with its code, such as `http_404`. Redirects that
  /// are followed are not final.
  public enum Statuses: Hashable, Sendable {
    /// 200 to 299, and 304 (Not Modified) if the request has `If-None-Match` or `If-Modified-Since`. 206 (Partial
    /// Content) counts only if the request has a `Range`.
    case successful
    /// Every status.
    case all
    /// The statuses with these codes.
    case codes(Set<Int>)
  }

  /// The treatment of a response that should have a body but has none: an empty one with the status 200, or a 204.
  public enum EmptyBodies: Hashable, Sendable {
    /// The response is complete.
    case accepted
    /// The download fails with `empty_body`, after one retry at most.
    case refused
  }

  /// The bodies that are kept completely, whatever ``maxErrorBytes`` is.
  enum CompleteBodies: Hashable, Sendable {
    /// Those of accepted responses with a status of 200 to 299.
    case successful
    /// Those of responses with status 200.
    case ok
  }

  /// The statuses that are a success. A status that the retry policy retries, such as 503, is retried before it counts.
  /// Default ``Statuses/successful``.
  public var statuses = Statuses.successful
  /// The treatment of empty bodies. Default ``EmptyBodies/accepted``.
  public var emptyBodies = EmptyBodies.accepted
  /// The number of bytes to keep of the body of an error response or another one outside 200 to 299, after content
  /// decoding. They are in ``Download/body`` if the status is a success, and otherwise in ``FetchFailure/body``. The
  /// rest is dropped. At least 0; a value below counts as 0. Default 0.
  public var maxErrorBytes = 0
  /// The bodies that are kept completely.
  var completeBodies = CompleteBodies.successful

  /// Creates the default rules.
  public init() {}

  /// The rules for images and robots.txt: every status is passed on, only a 200 has a body, and it must not be empty. A
  /// 201 and the like count as a 200.
  package static let image = ResponseRules(.all, .refused)

  /// Returns the rules for a download into a file, which gets the body of a 200 only. An empty file needs a declared
  /// length of zero.
  var forFiles: ResponseRules {
    var rules = ResponseRules(.successful, .refused)
    rules.maxErrorBytes = maxErrorBytes
    return rules
  }

  private init(_ statuses: Statuses, _ emptyBodies: EmptyBodies) {
    self.statuses = statuses
    self.emptyBodies = emptyBodies
    completeBodies = .ok
  }

  /// Returns true if a response with the status `code` is a success, for a request with `fields`.
  func accepts(_ code: Int, of fields: HTTPFields) -> Bool {
    switch statuses {
    case .all: true
    case .codes(let codes): codes.contains(code)
    case .successful:
      switch code {
      case 206: fields[.range] != nil
      case 304: fields[.ifNoneMatch] != nil || fields[.ifModifiedSince] != nil
      default: (200...299).contains(code)
      }
    }
  }

  /// Returns the code that a response with the status `code` is treated as. A 203 is a 200 that a proxy has modified
  /// (RFC 9110, section 15.3.4). Where only a 200 has a body, each other success with content is a 200, as in browsers
  /// (section 15: a client treats an unknown status as the first of its class).
  func treated(_ code: Int) -> Int {
    if code == 203 { return 200 }
    guard completeBodies == .ok, (200...299).contains(code), ![204, 205, 206].contains(code) else { return code }
    return 200
  }

  /// Returns true if the body of a response with the status `code` is kept completely, for a request with `fields`.
  func keepsBody(_ code: Int, of fields: HTTPFields) -> Bool {
    if code == 200 { return accepts(code, of: fields) }
    return completeBodies == .successful && (200...299).contains(code) && accepts(code, of: fields)
  }
}
