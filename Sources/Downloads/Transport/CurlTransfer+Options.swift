internal import CCurl
internal import Glibc
internal import HTTPTypes

extension CurlTransfer {
  /// Sets all options of the handle, which has none yet.
  func setOptions(proxy: String?, addresses: [IPAddress], now: ContinuousClock.Instant) {
    setTarget(proxy: proxy)
    setAddresses(addresses, now: now)
    setContent()
    setTrust()
    setSignature()
    setDeadlines(timeLeft: now.duration(to: end))
    setCallbacks()
    isGuarded = proxy == nil
    watchConnection()
  }

  private func setTarget(proxy: String?) {
    if reading == .plain {
      ccurl_set_string(handle, CURLOPT_URL, PlainResponse.url(for: request))
      ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "gopher,gophers")
      // A server would take the connection for HTTP/2.
      ccurl_set_long(handle, CURLOPT_SSL_ENABLE_ALPN, 0)
    } else {
      ccurl_set_string(handle, CURLOPT_URL, request.source.requestString)
      ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    }
    // An empty string keeps libcurl from reading the environment.
    ccurl_set_string(handle, CURLOPT_PROXY, proxy ?? "")
    ccurl_set_string(handle, CURLOPT_NOPROXY, "")
    ccurl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Over https, transfers wait for the first connection to a host, because HTTP/2 may multiplex all of them on it.
    // Plain http uses HTTP/1.1, where waiting gains nothing.
    ccurl_set_long(handle, CURLOPT_PIPEWAIT, request.source.scheme == .https ? 1 : 0)
    // Images are compressed already. With this option, libcurl still decodes a coding that a server applies anyway.
    ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, "identity")
    ccurl_set_long(handle, CURLOPT_HTTP_CONTENT_DECODING, reading == .decoded ? 1 : 0)
  }

  /// Gives libcurl the resolved addresses of the host, in order, unless it has them. libcurl itself resolves only names
  /// that need no name server, and the name of a proxy.
  private func setAddresses(_ addresses: [IPAddress], now: ContinuousClock.Instant) {
    // Without this, ending a transfer early would block the event loop until libcurl's own lookup returns.
    ccurl_set_quick_exit(handle)
    // The addresses must not expire while this transfer waits for a connection, nor a later one that relies on them.
    let lifetime = limits.total.milliseconds / 1000 + 60 + KnownAddresses.lifetime.milliseconds / 1000
    ccurl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, Int(Int32(clamping: lifetime)))
    guard !addresses.isEmpty else { return }
    let source = request.source
    // libcurl keeps the IP addresses of a name with a final dot apart from those without.
    let name = source.hasFinalDot ? "\(source.hostName)." : source.hostName
    let key = KnownAddresses.Key(host: name, port: source.port)
    addressTicket = memory.addresses.ticket(for: key, addresses, now: now)
    guard addressTicket != nil else { return }
    let list = addresses.map(\.description).joined(separator: ",")
    // Some versions of libcurl look up a host with its final dot, some without. The plus sign lets entries expire
    // (7.75).
    let ends = source.hasFinalDot ? ["", "."] : [""]
    addressLines = CurlList(ends.map { "+\(source.hostName)\($0):\(source.port):\(list)" })
    ccurl_set_list(handle, CURLOPT_RESOLVE, addressLines?.first)
  }

  /// Sets the header fields, and the body of an upload.
  private func setContent() {
    let fields = request.headerFields
    headerLines =
      request.upload == nil
      ? memory.headerLines(for: fields) : CurlMemory.uploadLines(for: fields, isSigned: request.signature != nil)
    ccurl_set_list(handle, CURLOPT_HTTPHEADER, headerLines?.first)
    guard let body = request.upload else { return }
    ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, "PUT")
    ccurl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.count)
    _ = body.withUnsafeBytes { ccurl_copy_body(handle, $0.baseAddress) }
  }

  private func setSignature() {
    guard let signature = request.signature else { return }
    ccurl_set_string(handle, CURLOPT_AWS_SIGV4, signature.parameters)
    ccurl_set_string(handle, CURLOPT_USERNAME, signature.accessKey)
    ccurl_set_string(handle, CURLOPT_PASSWORD, signature.secretKey)
  }

  private func setTrust() {
    if let netrc = configuration.netrc, request.addsCredentials {
      ccurl_set_netrc(handle, netrc)
    }
    if let authorities = configuration.certificateAuthorities ?? configuration.systemAuthorities {
      ccurl_set_string(handle, CURLOPT_CAINFO, authorities)
      // Otherwise the authorities in the system's directory would count, too.
      ccurl_set_string(handle, CURLOPT_CAPATH, nil)
    }
    if configuration.isInsecure(request.source) {
      ccurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 0)
      ccurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 0)
    }
  }

  private func setDeadlines(timeLeft: Duration) {
    ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, max(1, limits.connect.milliseconds))
    // Rounded up, so that the time is really over when libcurl reports a timeout.
    ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, max(0, timeLeft.milliseconds) + 1)
  }

  /// Starts to enforce the minimum speed. Set from the start, the limit would also apply to the wait for the first
  /// byte, which has its own timeout.
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
      CurlTransfer.pass(data, size * count, to: context) { $0.receive(headLine: $1) }
    }
    ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    ccurl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { data, size, count, context in
      CurlTransfer.pass(data, size * count, to: context) { $0.receive(bytes: $1) }
    }
  }

  /// Passes the bytes of a callback to the transfer. A result below `count` makes libcurl abort.
  private static func pass(
    _ data: UnsafeMutablePointer<CChar>?, _ count: Int, to context: UnsafeMutableRawPointer?,
    _ receive: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
  ) -> Int {
    guard let context, count > 0 else { return count }
    return receive(.of(context: context), UnsafeRawBufferPointer(start: data, count: count)) ? count : 0
  }

  /// Checks every address that libcurl connects to against the policy, except that of a proxy, which the user chose.
  /// Ends the wait for a connection when there is one.
  private func watchConnection() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
    ccurl_set_open_socket_function(handle) { context, _, address in
      guard let context, let address else { return CURL_SOCKET_BAD }
      return CurlTransfer.of(context: context).openSocket(to: address)
    }
    // libcurl keeps this context with the connection, until the event loop ends.
    ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(memory.floods).toOpaque())
    ccurl_set_close_socket_function(handle) { context, socket in
      guard let context else { return close(socket) }
      return Unmanaged<FloodGuard>.fromOpaque(context).takeUnretainedValue().closeSocket(socket)
    }
    // A reused connection may have been opened for a request with a more permissive policy.
    ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context)
    ccurl_set_prerequest_function(handle) { context, peer, _, peerPort, ownPort in
      guard let context, let peer else { return CURL_PREREQFUNC_ABORT }
      let transfer = CurlTransfer.of(context: context)
      transfer.noteConnection(Int(ownPort) << 16 | Int(peerPort))
      return transfer.mayUseConnection(to: String(cString: peer)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
  }

  /// Returns a socket for `address`, or `CURL_SOCKET_BAD` if the policy refuses the address.
  private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    var bytes: [UInt8] = Array(repeating: 0, count: 16)
    let length = ccurl_peer_address(address, &bytes)
    if isGuarded, let peer = IPAddress(bytes: bytes[..<Int(length)]), let refusal = refusal(of: peer) {
      refusedAddress = refusal
      return CURL_SOCKET_BAD
    }
    let socket = ccurl_open_socket(address)
    guard socket != CURL_SOCKET_BAD else { return socket }
    memory.floods.add(socket)
    opened.append(socket)
    return socket
  }

  /// Remembers the connection of the transfer, and its socket if it is new.
  private func noteConnection(_ ports: Int) {
    self.ports = ports
    guard let socket = opened.first(where: { ccurl_ports($0) == ports }) else { return }
    memory.sockets[ports] = socket
    memory.floods.noteConnection(ports)
  }

  /// The most times that a request is sent within one attempt: twice, if a kept connection was closed. A client should
  /// not repeat an automatic repetition (RFC 9112, section 9.3.1), but libcurl does.
  private static let maxSends = 2

  private func mayUseConnection(to peer: String) -> Bool {
    // libcurl has read the IP addresses by now.
    addressTicket.map { memory.addresses.load($0) }
    addressTicket = nil
    connectDeadline = nil
    isConnected = true
    sendCount += 1
    guard sendCount <= Self.maxSends else {
      abortReason = FetchFailure(.connectionLost, "The server has closed two connections without a response.")
      return false
    }
    refusedAddress = nil
    if isGuarded, !memory.isAllowed(peer, by: limits.addresses) {
      refusedAddress = IPAddress(peer).flatMap { refusal(of: $0) }
      guard refusedAddress == nil else { return false }
      memory.allow(peer, by: limits.addresses)
    }
    isPrivate = isGuarded && !isPublic(peer)
    receiver.requestSent()
    return true
  }

  private func isPublic(_ peer: String) -> Bool {
    if memory.isAllowed(peer, by: .publicOnly) { return true }
    guard let address = IPAddress(peer), address.isPublic else { return false }
    memory.allow(peer, by: .publicOnly)
    return true
  }
}

/// A list of lines for libcurl, which reads them until the exchange ends. Used on one thread.
final class CurlList {
  /// The first line; nil if the list is empty.
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  init(_ lines: some Sequence<String>) {
    for line in lines { first = curl_slist_append(first, line) ?? first }
  }

  deinit { curl_slist_free_all(first) }
}
