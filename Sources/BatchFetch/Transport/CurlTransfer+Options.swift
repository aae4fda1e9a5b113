internal import CCurl
internal import HTTPTypes

extension CurlTransfer {
  /// Tells libcurl what to do.
  func setOptions() {
    setRequest()
    setLimits()
    setCallbacks()
  }

  private func setRequest() {
    ccurl_set_string(handle, CURLOPT_URL, request.source.requestString)
    ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    ccurl_set_string(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 1)
    ccurl_set_long(handle, CURLOPT_MAXREDIRS, request.limits.maxRedirects)
    // Pictures are compressed already. Asked like this, libcurl still undoes a coding that a server applies anyway.
    ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, "identity")
    for field in request.headerFields {
      let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
      headerLines = curl_slist_append(headerLines, line) ?? headerLines
    }
    ccurl_set_list(handle, CURLOPT_HTTPHEADER, headerLines)
  }

  private func setLimits() {
    ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, max(1, request.limits.connect.milliseconds))
    ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, max(1, request.limits.total.milliseconds))
  }

  /// Starts to watch the speed. libcurl would count the wait for the first byte too, which has its own deadline.
  func watchSpeed() {
    ccurl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, request.limits.lowestSpeed)
    ccurl_set_long(handle, CURLOPT_LOW_SPEED_TIME, max(1, request.limits.stallInterval.milliseconds / 1000))
  }

  private func setCallbacks() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(handle, CURLOPT_PRIVATE, context)
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context)
    ccurl_set_data_function(handle, CURLOPT_HEADERFUNCTION) { data, size, count, context in
      CurlTransfer.pass(data, size * count, to: context) { $0.hear(headLine: $1) }
    }
    ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    ccurl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { data, size, count, context in
      CurlTransfer.pass(data, size * count, to: context) { $0.hear(bytes: $1) }
    }
    ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
    ccurl_set_open_socket_function(handle) { context, _, address in
      guard let context, let address else { return CURL_SOCKET_BAD }
      return CurlTransfer.of(context: context).openSocket(to: address)
    }
  }

  /// Hands a callback's bytes on. Fewer bytes taken than given is how libcurl is told to give up.
  private static func pass(
    _ data: UnsafeMutablePointer<CChar>?, _ count: Int, to context: UnsafeMutableRawPointer?,
    _ hear: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
  ) -> Int {
    guard let context, count > 0 else { return count }
    return hear(.of(context: context), UnsafeRawBufferPointer(start: data, count: count)) ? count : 0
  }

  /// A socket for `address`, unless the policy refuses it. Called for every connection, also after redirects.
  private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    var bytes: [UInt8] = Array(repeating: 0, count: 16)
    let length = ccurl_peer_address(address, &bytes)
    if let peer = IPAddress(bytes: bytes[..<Int(length)]), let reason = request.limits.addresses.refusal(of: peer) {
      refusal = FetchFailure(.blockedAddress, "\(request.source.host) is at \(peer), which is \(reason).")
      return CURL_SOCKET_BAD
    }
    return ccurl_open_socket(address)
  }
}
