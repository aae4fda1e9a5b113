internal import CCurl

extension CurlTransfer {
  /// Returns the failure that corresponds to an error of libcurl.
  func failure(for result: CURLcode) -> FetchFailure {
    if let refusedAddress { return refusedAddress }
    if let ports, memory.floods.hasEnded(ports) { return flooded }
    let detail = String(cString: errorText)
    let text = detail.isEmpty ? Self.text(for: result) : detail
    var failure = FetchFailure(code(for: result, text: text), "\(text).\(remedy(for: result))")
    failure.isHandshake = result == CURLE_SSL_CONNECT_ERROR && failure.code == .connectionLost
    return failure
  }

  /// libcurl's own text is about the arguments of its functions, which a line of a header is for it.
  private static func text(for result: CURLcode) -> String {
    result == CURLE_BAD_FUNCTION_ARGUMENT
      ? "The response header has a line that this version of libcurl cannot read"
      : String(cString: curl_easy_strerror(result))
  }

  /// The failure of a response that ended before or within its head.
  var incompleteHead: FetchFailure {
    FetchFailure(.connectionLost, "The response from \(request.source.host) ended before its header was complete.")
  }

  /// The failure of a transfer whose connection is flooded; see ``FloodWatch``.
  var flooded: FetchFailure {
    FetchFailure(.connectionLost, "\(request.source.host) floods the connection with data that is not a response.")
  }

  private func remedy(for result: CURLcode) -> String {
    guard result == CURLE_SSL_CACERT_BADFILE else { return "" }
    return " Install the package ca-certificates, or name a file of certificate authorities in SSL_CERT_FILE."
  }

  private func code(for result: CURLcode, text: String) -> FailureCode {
    switch result {
    case CURLE_URL_MALFORMAT: .badURL
    // The name was resolved before the transfer started, so a repeated lookup by libcurl failed only temporarily.
    case CURLE_COULDNT_RESOLVE_HOST: .dnsTemporary
    case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY, CURLE_INTERFACE_FAILED: .connectFailed
    case CURLE_OPERATION_TIMEDOUT: timeoutCode(text: text)
    case CURLE_PARTIAL_FILE: .image(.truncated)
    case CURLE_BAD_CONTENT_ENCODING: .badEncoding
    case CURLE_SSL_CONNECT_ERROR: Self.isBroken(handshake: text) ? .connectionLost : .tls
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED:
      .tls
    // The proxy responded, but refused to open the tunnel.
    case _ where ccurl_get_long(handle, CURLINFO_HTTP_CONNECTCODE) >= 300: .connectFailed
    default: .connectionLost
    }
  }

  /// Returns true if a handshake failed because the connection broke, false if TLS itself failed. libcurl has one
  /// result code for both, and no errno if the server closed the connection, so its error text decides:
  /// - `Recv failure` and `Send failure` are errors of the socket (since libcurl 7.87).
  /// - `SSL_connect:` precedes the state of the socket if OpenSSL gives no reason.
  /// - `unexpected eof` comes from OpenSSL, and `lib(0)` is an error without a reason in some versions.
  /// - The last three texts come from GnuTLS.
  ///
  /// An alert, a wrong protocol or a bad certificate would fail the same way next time.
  static func isBroken(handshake text: String) -> Bool {
    brokenHandshakes.contains { text.contains($0) }
  }

  private static let brokenHandshakes = [
    "Recv failure", "Send failure", "SSL_connect:", "unexpected eof", "lib(0)", "non-properly terminated",
    "Error in the pull function", "Error in the push function",
  ]

  /// Returns the code of a timeout. libcurl has one result code for all timeouts, so its error text and the clock
  /// decide.
  private func timeoutCode(text: String) -> FailureCode {
    if text.contains("too slow") { return .stalled }
    // Once there is a connection, only the total timeout is left. After a redirect, it may leave no time to connect.
    if isConnected || (isTimeOver && request.elapsed > .zero) { return .timeoutTotal }
    return text.hasPrefix("Resolving timed out") ? .dnsTemporary : .timeoutConnect
  }
}
