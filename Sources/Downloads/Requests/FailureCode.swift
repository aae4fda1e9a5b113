/// The cause of a failure. Each cause has one code, which is stable across versions.
public enum FailureCode: Hashable, Sendable {
  /// The URL is invalid.
  case badURL
  /// The row of the manifest is invalid, or a header field of the request cannot be sent.
  case badRow
  /// The scheme is neither http nor https, and the URL is not a file that may be read.
  case blockedScheme
  /// The policy forbids connections to the host's IP address.
  case blockedAddress
  /// The robots.txt of the host does not allow the request, the server failed to deliver it, or the response forbids
  /// the use of the image.
  case blockedRobots
  /// Earlier requests of the run could not reach the host, or the host demands a longer wait than allowed.
  case hostUnavailable
  /// The host does not exist.
  case dnsNotFound
  /// The name lookup failed temporarily or took too long.
  case dnsTemporary
  /// No connection could be made: refused, or the host is unreachable.
  case connectFailed
  /// The TLS handshake failed: certificate, host name or protocol.
  case tls
  /// No connection was made within the connect timeout.
  case timeoutConnect
  /// No response started within the first-byte timeout.
  case timeoutFirstByte
  /// The attempt did not finish within the total timeout.
  case timeoutTotal
  /// The speed stayed below the minimum for too long.
  case stalled
  /// The connection broke before the response was complete, or the response is not valid HTTP.
  case connectionLost
  /// A local file is missing, is not a regular file, or cannot be read.
  case fileUnreadable
  /// The server responded with this status.
  case http(Int)
  /// The server redirected more often than allowed.
  case tooManyRedirects
  /// The content coding is unknown, or the coded body is damaged.
  case badEncoding
  /// The body is larger than allowed.
  case tooLargeBytes
  /// The response has no body.
  case emptyBody
  /// A closure of the program that makes or changes the request threw an error.
  case requestFailed
  /// The bytes are not those that the request expects.
  case hashMismatch
  /// The bytes are among those that the pipeline rejects.
  case rejectedHash
  /// The image cannot be decoded or rendered. `truncated` is also the code of a download whose body ended before its
  /// declared length.
  case image(ImageError.Code)
  /// The output file could not be written.
  case outputFailed
  /// The output file could not be written for a temporary reason: a full disk, or too many open files.
  case outputUnavailable
  /// A file that `thumbs` did not make has the name of the output file.
  case outputExists
  /// The output file would replace a file that the run reads, or writes for another purpose.
  case outputConflict
  /// The image is not in the cache, and the cache mode is offline.
  case offlineMiss
  /// The caller canceled the request.
  case cancelled
}

extension FailureCode: LosslessStringConvertible {
  static let names: [(FailureCode, String)] =
    [
      (.badURL, "bad_url"), (.badRow, "bad_row"), (.blockedScheme, "blocked_scheme"),
      (.blockedAddress, "blocked_address"), (.blockedRobots, "blocked_robots"),
      (.hostUnavailable, "host_unavailable"), (.dnsNotFound, "dns_not_found"), (.dnsTemporary, "dns_temporary"),
      (.connectFailed, "connect_failed"), (.tls, "tls"), (.timeoutConnect, "timeout_connect"),
      (.timeoutFirstByte, "timeout_first_byte"), (.timeoutTotal, "timeout_total"), (.stalled, "stalled"),
      (.connectionLost, "connection_lost"), (.fileUnreadable, "file_unreadable"),
      (.tooManyRedirects, "too_many_redirects"),
      (.badEncoding, "bad_encoding"), (.tooLargeBytes, "too_large_bytes"), (.emptyBody, "empty_body"),
      (.requestFailed, "request_failed"),
      (.hashMismatch, "hash_mismatch"), (.rejectedHash, "rejected_hash"),
      (.outputFailed, "output_failed"), (.outputUnavailable, "output_unavailable"), (.outputExists, "output_exists"),
      (.outputConflict, "output_conflict"), (.offlineMiss, "offline_miss"), (.cancelled, "cancelled"),
    ] + ImageError.Code.allCases.map { (.image($0), $0.rawValue) }

  private static let nameByCode = Dictionary(uniqueKeysWithValues: names)
  private static let codeByName = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })

  /// The code as reports spell it, such as `bad_url`, `http_404` or `truncated`.
  public var description: String {
    if case .http(let status) = self { return "http_\(status)" }
    return Self.nameByCode[self] ?? "unknown"
  }

  /// Creates the code from its spelling in a report; nil for an unknown code.
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
  /// True if the same request may succeed later without any change.
  public var isRetryable: Bool {
    switch self {
    case .hostUnavailable, .dnsTemporary, .connectFailed, .timeoutConnect, .timeoutFirstByte, .timeoutTotal,
      .stalled, .connectionLost, .emptyBody, .image(.truncated), .image(.outOfMemory), .outputUnavailable:
      true
    case .http(let status): status == 408 || status == 425 || status == 429 || (500...599).contains(status)
    default: false
    }
  }
}
