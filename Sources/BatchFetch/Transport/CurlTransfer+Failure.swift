internal import CCurl
internal import ImageCache

extension CurlTransfer {
  /// What libcurl's result means to a caller.
  func failure(for result: CURLcode) -> FetchFailure {
    if let refusal { return refusal }
    let words = String(cString: errorText)
    let text = words.isEmpty ? String(cString: curl_easy_strerror(result)) : words
    return FetchFailure(code(for: result, text: text), "\(text).")
  }

  private func code(for result: CURLcode, text: String) -> FailureCode {
    switch result {
    case CURLE_URL_MALFORMAT: .badURL
    case CURLE_UNSUPPORTED_PROTOCOL: .blockedScheme
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dnsNotFound
    case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .connectFailed
    case CURLE_OPERATION_TIMEDOUT: timeoutCode(text: text)
    case CURLE_PARTIAL_FILE: .image(.truncated)
    case CURLE_TOO_MANY_REDIRECTS: .tooManyRedirects
    case CURLE_BAD_CONTENT_ENCODING: .badEncoding
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED:
      .tls
    default: .connectionLost
    }
  }

  /// libcurl has one result for all its deadlines; its words and its times tell them apart.
  private func timeoutCode(text: String) -> FailureCode {
    if text.contains("too slow") { return .stalled }
    return ccurl_get_offset(handle, CURLINFO_PRETRANSFER_TIME_T) == 0 ? .timeoutConnect : .timeoutTotal
  }
}
