internal import CCurl
internal import ImageCache

extension CurlTransfer {
  /// What libcurl's result means to a caller.
  func failure(for result: CURLcode) -> FetchFailure {
    if let refusedAddress { return refusedAddress }
    let words = String(cString: errorText)
    let text = words.isEmpty ? String(cString: curl_easy_strerror(result)) : words
    return FetchFailure(code(for: result, text: text), "\(text).")
  }

  /// An answer that ended within its head, or before.
  var headless: FetchFailure { FetchFailure(.connectionLost, "The answer of \(trail.hop.host) has no complete head.") }

  private func code(for result: CURLcode, text: String) -> FailureCode {
    switch result {
    case CURLE_URL_MALFORMAT: .badURL
    // Its name was looked up before: libcurl had to ask once more.
    case CURLE_COULDNT_RESOLVE_HOST: .dnsTemporary
    case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY, CURLE_INTERFACE_FAILED: .connectFailed
    case CURLE_OPERATION_TIMEDOUT: timeoutCode(text: text)
    case CURLE_PARTIAL_FILE: .image(.truncated)
    case CURLE_BAD_CONTENT_ENCODING: .badEncoding
    case CURLE_SSL_CONNECT_ERROR: Self.isBroken(handshake: text) ? .connectionLost : .tls
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED:
      .tls
    // The proxy answered, and would not make the connection.
    case _ where ccurl_get_long(handle, CURLINFO_HTTP_CONNECTCODE) >= 300: .connectFailed
    default: .connectionLost
    }
  }

  /// Whether a handshake failed because the connection ended, or for a reason that TLS has. libcurl has one result for
  /// both, and tells no errno where the other side closed; so its words have to do:
  /// - `Recv failure` and `Send failure` are those of the socket (since 7.87).
  /// - `SSL_connect:` is followed by the state of the socket, where OpenSSL has no reason of its own.
  /// - `unexpected eof` is OpenSSL's, and `lib(0)` an error without a reason, in some versions before and after those.
  /// - GnuTLS has words of its own.
  ///
  /// An alert, a wrong protocol or a bad certificate has a reason: it would be the same next time.
  static func isBroken(handshake text: String) -> Bool {
    brokenHandshakes.contains { text.contains($0) }
  }

  private static let brokenHandshakes = [
    "Recv failure", "Send failure", "SSL_connect:", "unexpected eof", "lib(0)", "non-properly terminated",
    "Error in the pull function", "Error in the push function",
  ]

  /// libcurl has one result for all its deadlines; its words and the clock tell them apart.
  private func timeoutCode(text: String) -> FailureCode {
    if text.contains("too slow") { return .stalled }
    // Once an answer has begun, no other deadline is left. The clocks of both sides may differ by a moment.
    if isTimeOver || hasBegun { return .timeoutTotal }
    return text.hasPrefix("Resolving timed out") ? .dnsTemporary : .timeoutConnect
  }
}
