/// The cause of a failure. Each cause has one code, which is stable across versions.
///
/// Each layer declares its codes with everything that holds for them: this module those of requests, the modules above
/// it those of images, caches and output files. Codes with the same name are equal.
public struct FailureCode: Sendable {
  /// The contact of a failed request with its host.
  package enum Contact: Sendable {
    /// No connection could be made.
    case unreachable
    /// The host was reached.
    case reached
    /// The request ended for a reason that has nothing to do with the host.
    case none
  }

  /// The code as reports spell it, such as `bad_url`, `http_404` or `truncated`.
  public let description: String
  /// True if the same request may succeed later without any change.
  public let isRetryable: Bool
  /// True if another request soon would fail in the same way, so that a cache remembers the failure.
  package let isLasting: Bool
  /// The contact with the host of the URL.
  package let contact: Contact

  package init(_ description: String, isRetryable: Bool, isLasting: Bool = false, contact: Contact) {
    self.description = description
    self.isRetryable = isRetryable
    self.isLasting = isLasting
    self.contact = contact
  }
}

extension FailureCode: Hashable, CustomStringConvertible {
  /// Compares the names.
  public static func == (left: FailureCode, right: FailureCode) -> Bool { left.description == right.description }
  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

// MARK: Codes

extension FailureCode {
  /// The codes of this module, without those of HTTP statuses.
  package static let ofRequests: [FailureCode] = [
    .badURL, .badField, .blockedScheme, .blockedAddress, .blockedRobots, .hostUnavailable, .dnsNotFound, .dnsTemporary,
    .connectFailed, .tls, .timeoutConnect, .timeoutFirstByte, .timeoutTotal, .stalled, .connectionLost,
    .fileUnreadable, .tooManyRedirects, .badEncoding, .tooLargeBytes, .emptyBody, .truncated, .requestFailed,
    .hashMismatch, .wrongRegion, .outputFailed, .outputUnavailable, .outputConflict, .cancelled,
  ]

  /// The URL is invalid.
  public static let badURL = FailureCode("bad_url", isRetryable: false, contact: .none)
  /// A header field of the request cannot be sent.
  public static let badField = FailureCode("bad_row", isRetryable: false, contact: .none)
  /// The scheme is neither http nor https, and the URL is not a file that may be read.
  public static let blockedScheme = FailureCode("blocked_scheme", isRetryable: false, contact: .none)
  /// The policy forbids connections to the host's IP address.
  public static let blockedAddress = FailureCode("blocked_address", isRetryable: false, contact: .none)
  /// The robots.txt of the host does not allow the request, the server failed to deliver it, or the response forbids
  /// the use of the image.
  public static let blockedRobots = FailureCode("blocked_robots", isRetryable: false, contact: .none)
  /// Earlier requests of the run could not reach the host, or the host demands a longer wait than allowed.
  public static let hostUnavailable = FailureCode("host_unavailable", isRetryable: true, contact: .none)
  /// The host does not exist.
  public static let dnsNotFound = FailureCode("dns_not_found", isRetryable: false, contact: .reached)
  /// The name lookup failed temporarily or took too long.
  public static let dnsTemporary = FailureCode("dns_temporary", isRetryable: true, contact: .unreachable)
  /// No connection could be made: refused, or the host is unreachable.
  public static let connectFailed = FailureCode("connect_failed", isRetryable: true, contact: .unreachable)
  /// The TLS handshake failed: certificate, host name or protocol.
  public static let tls = FailureCode("tls", isRetryable: false, contact: .reached)
  /// No connection was made within the connect timeout.
  public static let timeoutConnect = FailureCode("timeout_connect", isRetryable: true, contact: .unreachable)
  /// No response started within the first-byte timeout.
  public static let timeoutFirstByte = FailureCode("timeout_first_byte", isRetryable: true, contact: .reached)
  /// The attempt did not finish within the total timeout.
  public static let timeoutTotal = FailureCode("timeout_total", isRetryable: true, contact: .none)
  /// The speed stayed below the minimum for too long.
  public static let stalled = FailureCode("stalled", isRetryable: true, contact: .reached)
  /// The connection broke before the response was complete, or the response is not valid HTTP.
  public static let connectionLost = FailureCode("connection_lost", isRetryable: true, contact: .reached)
  /// A local file is missing, is not a regular file, or cannot be read.
  public static let fileUnreadable = FailureCode("file_unreadable", isRetryable: false, contact: .none)
  /// The server redirected more often than allowed.
  public static let tooManyRedirects = FailureCode("too_many_redirects", isRetryable: false, contact: .reached)
  /// The content coding is unknown, or the coded body is damaged.
  public static let badEncoding = FailureCode("bad_encoding", isRetryable: false, contact: .reached)
  /// The body is larger than allowed.
  public static let tooLargeBytes = FailureCode("too_large_bytes", isRetryable: false, contact: .reached)
  /// The response has no body.
  public static let emptyBody = FailureCode("empty_body", isRetryable: true, contact: .reached)
  /// The body ended before its declared length. An image that ends early has the same code.
  public static let truncated = FailureCode("truncated", isRetryable: true, contact: .reached)
  /// A closure of the program that makes or changes the request threw an error.
  public static let requestFailed = FailureCode("request_failed", isRetryable: false, contact: .none)
  /// The bytes are not those that the request expects.
  public static let hashMismatch = FailureCode("hash_mismatch", isRetryable: false, contact: .reached)
  /// The bucket is in another region. The next attempt goes there.
  public static let wrongRegion = FailureCode("wrong_region", isRetryable: true, contact: .reached)
  /// The output file could not be written.
  public static let outputFailed = FailureCode("output_failed", isRetryable: false, contact: .reached)
  /// The output file could not be written for a temporary reason: a full disk, or too many open files.
  public static let outputUnavailable = FailureCode("output_unavailable", isRetryable: true, contact: .reached)
  /// The output file would replace a file that the run reads, or writes for another purpose.
  public static let outputConflict = FailureCode("output_conflict", isRetryable: false, contact: .reached)
  /// The caller canceled the request.
  public static let cancelled = FailureCode("cancelled", isRetryable: false, contact: .none)

  /// The server responded with this status.
  public static func http(_ status: Int) -> FailureCode {
    FailureCode(
      "http_\(status)", isRetryable: [408, 425, 429].contains(status) || (500...599).contains(status),
      isLasting: [404, 410].contains(status), contact: .reached)
  }
}
