public import ImageCache

/// The cause of a failure, one code a cause, stable across versions.
public enum FailureCode: Hashable, Sendable {
  /// The address is not one.
  case badURL
  /// The manifest's row is not one, or a header field of the request cannot be sent.
  case badRow
  /// Neither http nor https (nor an allowed file).
  case blockedScheme
  /// The server's address is not to be connected to.
  case blockedAddress
  /// There is no such host.
  case dnsNotFound
  /// The name service did not answer.
  case dnsTemporary
  /// No connection was made: refused or unreachable.
  case connectFailed
  /// The secure connection failed: certificate, name or protocol.
  case tls
  /// No connection within the connect deadline.
  case timeoutConnect
  /// Nothing came back within the first-byte deadline.
  case timeoutFirstByte
  /// The download was not done within its total deadline.
  case timeoutTotal
  /// Data trickled below the lowest speed for too long.
  case stalled
  /// The connection broke while data was coming.
  case connectionLost
  /// A local file is missing, is none, or may not be read.
  case fileUnreadable
  /// The server answered with this status.
  case http(Int)
  /// More redirects than allowed.
  case tooManyRedirects
  /// A content coding that is not understood, or is damaged.
  case badEncoding
  /// The body is larger than allowed.
  case tooLargeBytes
  /// An answer without a body.
  case emptyBody
  /// The bytes did not become thumbnails.
  case image(ImageError.Code)
  /// The thumbnail could not be written.
  case outputFailed
  /// The thumbnail could not be written for now: the disk is full, or too many files are open.
  case outputUnavailable
  /// There is another file in its place, which `thumbs` did not make.
  case outputExists
  /// In its place there is a file that the run reads, or writes for something else.
  case outputConflict
  /// Offline, and not in the cache.
  case offlineMiss
  /// Cancelled by the caller.
  case cancelled
}

extension FailureCode: LosslessStringConvertible {
  static let names: [(FailureCode, String)] =
    [
      (.badURL, "bad_url"), (.badRow, "bad_row"), (.blockedScheme, "blocked_scheme"),
      (.blockedAddress, "blocked_address"), (.dnsNotFound, "dns_not_found"), (.dnsTemporary, "dns_temporary"),
      (.connectFailed, "connect_failed"), (.tls, "tls"), (.timeoutConnect, "timeout_connect"),
      (.timeoutFirstByte, "timeout_first_byte"), (.timeoutTotal, "timeout_total"), (.stalled, "stalled"),
      (.connectionLost, "connection_lost"), (.fileUnreadable, "file_unreadable"),
      (.tooManyRedirects, "too_many_redirects"),
      (.badEncoding, "bad_encoding"), (.tooLargeBytes, "too_large_bytes"), (.emptyBody, "empty_body"),
      (.outputFailed, "output_failed"), (.outputUnavailable, "output_unavailable"), (.outputExists, "output_exists"),
      (.outputConflict, "output_conflict"), (.offlineMiss, "offline_miss"), (.cancelled, "cancelled"),
    ] + ImageError.Code.allCases.map { (.image($0), $0.rawValue) }

  private static let nameByCode = Dictionary(uniqueKeysWithValues: names)
  private static let codeByName = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })

  /// The code of a report: `bad_url`, `http_404`, `truncated`.
  public var description: String {
    if case .http(let status) = self { return "http_\(status)" }
    return Self.nameByCode[self] ?? "unknown"
  }

  /// The cause that a report's code names; nil for a code of no meaning here.
  public init?(_ description: String) {
    if let code = Self.codeByName[description] {
      self = code
    } else if description.hasPrefix("http_"), let status = Int(description.dropFirst(5)), (100...999).contains(status) {
      self = .http(status)
    } else {
      return nil
    }
  }
}

extension FailureCode {
  /// Whether the same request may well succeed later, without anything being changed.
  public var isRetryable: Bool {
    switch self {
    case .dnsTemporary, .connectFailed, .timeoutConnect, .timeoutFirstByte, .timeoutTotal, .stalled,
      .connectionLost, .emptyBody, .image(.truncated), .image(.outOfMemory), .outputUnavailable:
      true
    case .http(let status): status == 408 || status == 425 || status == 429 || (500...599).contains(status)
    default: false
    }
  }
}
