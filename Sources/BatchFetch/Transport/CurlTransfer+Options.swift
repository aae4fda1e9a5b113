internal import CCurl
internal import HTTPTypes

extension CurlTransfer {
  /// Tells libcurl what to do for the current hop. Nothing is left of a hop before.
  func setOptions(proxy: String?, addresses: [IPAddress], timeLeft: Duration) {
    curl_easy_reset(handle)
    errorText.pointee = 0
    setTarget(proxy: proxy)
    setAddresses(addresses)
    setHeader()
    setTrust()
    setDeadlines(timeLeft: timeLeft)
    setCallbacks()
    setGuard(isProxied: proxy != nil)
  }

  private func setTarget(proxy: String?) {
    ccurl_set_string(handle, CURLOPT_URL, trail.hop.requestString)
    ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    // An empty name keeps libcurl from looking into the environment itself.
    ccurl_set_string(handle, CURLOPT_PROXY, proxy ?? "")
    ccurl_set_string(handle, CURLOPT_NOPROXY, "")
    ccurl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // The first exchange with a host finds out whether one connection can carry them all. Servers without TLS are
    // asked by HTTP/1.1, where there is nothing to wait for.
    ccurl_set_long(handle, CURLOPT_PIPEWAIT, trail.hop.scheme == .https ? 1 : 0)
  }

  /// Hands libcurl the addresses of the host, in their order. Its own resolver is left with what needs no name server,
  /// and with the name of a proxy.
  private func setAddresses(_ addresses: [IPAddress]) {
    // When an exchange ends early, libcurl would wait on the event loop's thread until its own question is answered.
    ccurl_set_quick_exit(handle)
    // They must not be forgotten while the exchange waits for its connection.
    let lifetime = Int32(clamping: limits.total.milliseconds / 1000 + 60)
    ccurl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, Int(lifetime))
    curl_slist_free_all(addressLines)
    addressLines = nil
    guard !addresses.isEmpty else { return }
    let list = addresses.map(\.description).joined(separator: ",")
    // Some versions know a host by its name with the final dot, some without. The plus sign lets them expire (7.75).
    for end in trail.hop.hasFinalDot ? ["", "."] : [""] {
      addressLines =
        curl_slist_append(addressLines, "+\(trail.hop.hostName)\(end):\(trail.hop.port):\(list)") ?? addressLines
    }
    ccurl_set_list(handle, CURLOPT_RESOLVE, addressLines)
  }

  private func setHeader() {
    // Pictures are compressed already. Asked like this, libcurl still undoes a coding that a server applies anyway.
    ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, "identity")
    curl_slist_free_all(headerLines)
    headerLines = nil
    for field in trail.headerFields {
      let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
      headerLines = curl_slist_append(headerLines, line) ?? headerLines
    }
    ccurl_set_list(handle, CURLOPT_HTTPHEADER, headerLines)
  }

  private func setTrust() {
    if let netrc = configuration.netrc, trail.isAtHome {
      ccurl_set_long(handle, CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
      ccurl_set_string(handle, CURLOPT_NETRC_FILE, netrc)
    }
    if let authorities = configuration.certificateAuthorities {
      ccurl_set_string(handle, CURLOPT_CAINFO, authorities)
    }
    if configuration.isInsecure(trail.hop) {
      ccurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 0)
      ccurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 0)
    }
  }

  private func setDeadlines(timeLeft: Duration) {
    ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, max(1, limits.connect.milliseconds))
    // Rounded up: when libcurl says that the time is over, it is.
    ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, max(0, timeLeft.milliseconds) + 1)
  }

  /// Starts to watch the speed. libcurl would count the wait for the first byte too, which has its own deadline.
  func watchSpeed() {
    ccurl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, limits.lowestSpeed)
    ccurl_set_long(handle, CURLOPT_LOW_SPEED_TIME, max(1, limits.stallInterval.milliseconds / 1000))
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
  }

  /// Hands a callback's bytes on. Fewer bytes taken than given is how libcurl is told to give up.
  private static func pass(
    _ data: UnsafeMutablePointer<CChar>?, _ count: Int, to context: UnsafeMutableRawPointer?,
    _ hear: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
  ) -> Int {
    guard let context, count > 0 else { return count }
    return hear(.of(context: context), UnsafeRawBufferPointer(start: data, count: count)) ? count : 0
  }

  /// Judges every address that is connected to. A proxy is the user's own choice; its address is not judged.
  private func setGuard(isProxied: Bool) {
    guard !isProxied else { return }
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
    ccurl_set_open_socket_function(handle) { context, _, address in
      guard let context, let address else { return CURL_SOCKET_BAD }
      return CurlTransfer.of(context: context).openSocket(to: address)
    }
    // A connection that is used again was opened for somebody else, who may have been allowed more.
    ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context)
    ccurl_set_prerequest_function(handle) { context, peer, _, _, _ in
      guard let context, let peer else { return CURL_PREREQFUNC_ABORT }
      return CurlTransfer.of(context: context).mayTalk(to: String(cString: peer))
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
  }

  /// A socket for `address`, unless the policy refuses it.
  private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    var bytes: [UInt8] = Array(repeating: 0, count: 16)
    let length = ccurl_peer_address(address, &bytes)
    if let peer = IPAddress(bytes: bytes[..<Int(length)]), let refusal = refusal(of: peer) {
      refusedAddress = refusal
      return CURL_SOCKET_BAD
    }
    return ccurl_open_socket(address)
  }

  private func mayTalk(to peer: String) -> Bool {
    refusedAddress = IPAddress(peer).flatMap { refusal(of: $0) }
    return refusedAddress == nil
  }
}
