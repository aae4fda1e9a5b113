internal import CCurl
internal import HTTPTypes

/// One transfer on the event loop's thread. Passes what libcurl receives to the receiver.
final class CurlTransfer {
  /// The next action of the event loop for a transfer.
  enum Step {
    /// Perform the HTTP exchange that the handle is set up for.
    case exchange
    /// Resolve the name of this host.
    case resolve(String)
    /// Start over with this request.
    case `repeat`(TransferRequest)
    /// End the transfer: with nil if the response is complete, otherwise with the failure.
    case end(FetchFailure?)
  }

  private enum Phase {
    /// Resolving the host name, to connect.
    case resolving
    /// Resolving the host name, to check its addresses before a proxy gets the request.
    case checking
    /// Performing the HTTP exchange.
    case exchanging
  }

  let id: CurlEventLoop.TransferID
  let handle: UnsafeMutableRawPointer
  let limits: TransferLimits
  let configuration: CurlTransport.Configuration
  let request: TransferRequest
  let reading: ResponseReading
  /// The buffer for libcurl's error text.
  let errorText: UnsafeMutablePointer<CChar>
  /// The values that the transfers of the event loop share.
  let memory: CurlMemory
  /// The header lines of the request.
  var headerLines: CurlList?
  /// The addresses of the host in the format of `CURLOPT_RESOLVE`; nil if libcurl has them.
  var addressLines: CurlList?
  /// The entry for ``addressLines``, until libcurl has read them.
  var addressTicket: KnownAddresses.Ticket?
  /// The failure of the last address that the policy refused. Another address of the host may still have worked.
  var refusedAddress: FetchFailure?
  /// True if libcurl connects to the host, and not to a proxy, so that the policy applies to the address.
  var isGuarded = false
  /// The instant at which the exchange must have a connection; nil once it has, or if libcurl enforces it.
  var connectDeadline: ContinuousClock.Instant?
  /// True once there was a connection for the request.
  var isConnected = false
  /// True if the connection leads to an address that is known and not on the public Internet.
  var isPrivate = false
  /// The sockets that libcurl has opened for this transfer.
  var opened: [curl_socket_t] = []
  /// The ports of the connection, by which ``CurlMemory/sockets`` has its socket; nil before there is one.
  var ports: Int?
  /// The number of bytes that libcurl has passed on: lines of heads, and the body after decoding.
  private(set) var delivered = 0

  /// The instant at which the total timeout has passed.
  let end: ContinuousClock.Instant
  let receiver: any TransferReceiver
  private let firstByteDeadline: ContinuousClock.Instant
  private var phase = Phase.exchanging
  private var head = HeadParser()
  private var isHeadDelivered = false
  /// The response if libcurl passes on all bytes.
  private var plain = PlainResponse()
  /// True if a callback aborted the exchange because the body is coded, and libcurl does not decode it.
  private var isMisread = false
  /// The reason why a callback aborted the exchange, which libcurl's result does not show.
  var abortReason: FetchFailure?
  /// The number of times that libcurl has sent the request: again on another connection if a kept one is closed before
  /// any byte of the response.
  var sendCount = 0
  /// The number of bytes read from unwanted bodies.
  private var unwantedBytes = 0

  init(
    id: CurlEventLoop.TransferID, handle: UnsafeMutableRawPointer, request: TransferRequest,
    receiver: any TransferReceiver, configuration: CurlTransport.Configuration, memory: CurlMemory = CurlMemory()
  ) {
    self.id = id
    self.handle = handle
    var request = request
    request.limits = request.limits.inRange
    limits = request.limits
    self.configuration = configuration
    self.memory = memory
    self.receiver = receiver
    self.request = request
    reading = request.reading ?? memory.reading(of: request.source.host)
    let now = ContinuousClock.now
    end = now + max(.zero, request.limits.total - request.elapsed)
    firstByteDeadline = now + request.limits.firstByte
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { errorText.deallocate() }

  /// Returns the transfer that uses `handle`.
  static func of(_ handle: UnsafeMutableRawPointer) -> CurlTransfer? {
    ccurl_get_private(handle).map { of(context: $0) }
  }

  /// Returns the transfer behind the context of a callback. The table keeps it alive while libcurl may call back.
  static func of(context: UnsafeMutableRawPointer) -> CurlTransfer {
    Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: Steps

  /// Returns the first step.
  func begin() -> Step {
    guard let proxy = configuration.proxies.proxy(for: request.source) else {
      if request.source.isLoopbackName { return exchange(at: IPAddress.loopback) }
      guard let host = request.source.nameToLookUp else { return exchange() }
      phase = .resolving
      return .resolve(host)
    }
    let host = request.source.hostName
    if let address = IPAddress(host) {
      return refusal(of: address).map { .end($0) } ?? exchange(over: proxy)
    }
    if let reason = limits.addresses.refusal(ofName: host, for: request.source.host) {
      return .end(refusal(of: host, reason))
    }
    guard limits.addresses.needsAddresses else { return exchange(over: proxy) }
    phase = .checking
    return .resolve(host)
  }

  /// Returns the step after a name lookup.
  func step(after resolution: HostResolution) -> Step {
    if case .resolving = phase {
      guard case .addresses(let addresses) = resolution, !addresses.isEmpty else {
        return .end(resolution.failure(of: request.source.hostName))
      }
      return exchange(at: addresses)
    }
    if case .temporary = resolution { return .end(resolution.failure(of: request.source.hostName)) }
    if let failure = refusal(of: resolution) { return .end(failure) }
    return exchange(over: configuration.proxies.proxy(for: request.source))
  }

  /// Returns the step after libcurl has finished the exchange.
  func step(after result: CURLcode) -> Step {
    if let abortReason { return .end(abortReason) }
    if let other = otherReading(after: result) { return .repeat(repeated(as: other)) }
    let result = reading == .plain ? plainResult(result) : result
    // An unwanted body may be incomplete, because only the head of its response matters.
    guard result == CURLE_OK || (head.isComplete && isUnwanted) else {
      return .end(failure(for: result))
    }
    guard head.isComplete else { return .end(incompleteHead) }
    do throws(FetchFailure) {
      try deliverHead()
      return .end(nil)
    } catch {
      return .end(error)
    }
  }

  /// Reports the end to the receiver, as the last event.
  func finish(with failure: FetchFailure?) {
    leaveConnection()
    receiver.receiveEnd(failure)
  }

  /// Adds the received bytes to those of earlier transfers over the connection.
  func leaveConnection() {
    if let ports { memory.delivered[ports, default: 0] += delivered }
  }

  /// - Parameter addresses: the addresses of the host if its name was resolved.
  private func exchange(over proxy: String? = nil, at addresses: [IPAddress] = []) -> Step {
    let now = ContinuousClock.now
    guard now < end else { return .end(totalTimeout) }
    phase = .exchanging
    // libcurl applies no timeout while a transfer waits for the connection of another one, as only those over https do.
    connectDeadline = request.source.scheme == .https ? now + limits.connect : nil
    setOptions(proxy: proxy, addresses: addresses, now: now)
    return .exchange
  }

  // MARK: Timeouts that libcurl does not have

  /// The instant at which the transfer must have a connection, or its response must have started; nil once it has.
  var deadline: ContinuousClock.Instant? {
    if case .exchanging = phase, !head.isEmpty { return nil }
    return min(connectDeadline ?? end, firstByteDeadline, end)
  }

  /// The failure of a transfer whose ``deadline`` has passed.
  var overdue: FetchFailure {
    if case .resolving = phase, let failure = HostResolution.temporary.failure(of: request.source.hostName) {
      return failure
    }
    let isTotal = deadline == end
    // The time that is left after a redirect may be too short for any connection.
    if !isConnected, !isTotal || request.elapsed == .zero { return connectTimeout }
    guard !isTotal else { return totalTimeout }
    return FetchFailure(.timeoutFirstByte, "\(request.source.host) did not respond within \(limits.firstByte).")
  }

  private var connectTimeout: FetchFailure {
    let limit = min(limits.connect, limits.firstByte, limits.total)
    return FetchFailure(.timeoutConnect, "No connection to \(request.source.host) was made within \(limit).")
  }

  /// True once the total timeout has passed.
  var isTimeOver: Bool { ContinuousClock.now >= end }

  private var totalTimeout: FetchFailure {
    FetchFailure(.timeoutTotal, "The response was not complete within \(limits.total).")
  }

  // MARK: Responses that libcurl has to read in another way

  // A coding that no browser knows, such as `aws-chunked` or `UTF-8`, is hardly ever applied to the body. When the head
  // is complete, libcurl has decided whether it decodes, so a wrong decision costs one more request. A head with a line
  // that has no colon costs one, too, because libcurl gives it up.

  /// Returns another way to read the response if this one has failed, or nil.
  private func otherReading(after result: CURLcode) -> ResponseReading? {
    if isMisread { return .decoded }
    // A server that changes its mind gets no third request.
    guard request.reading == nil, !isHeadDelivered else { return nil }
    switch result {
    case CURLE_BAD_CONTENT_ENCODING where reading == .decoded && head.response.hasUnknownCoding: return .undecoded
    case CURLE_WEIRD_SERVER_REPLY where text(of: result) == "Header without colon" && canReadPlainly: return .plain
    default: return nil
    }
  }

  /// False if libcurl adds something to the request by itself, or a proxy would get it.
  private var canReadPlainly: Bool {
    request.upload == nil && request.signature == nil && request.source.credentials == nil && configuration.netrc == nil
      && configuration.proxies.proxy(for: request.source) == nil
  }

  private func repeated(as reading: ResponseReading) -> TransferRequest {
    var other = request
    other.reading = reading
    other.elapsed = limits.total - max(.zero, ContinuousClock.now.duration(to: end))
    if reading != .plain { memory.setReading(reading, of: request.source.host) }
    return other
  }

  /// Returns the result of an exchange in which libcurl knew nothing of the length of the body.
  private func plainResult(_ result: CURLcode) -> CURLcode {
    if plain.isComplete { return CURLE_OK }
    return result == CURLE_OK && !plain.mayEnd ? CURLE_PARTIAL_FILE : result
  }

  // MARK: Callbacks from libcurl

  /// Receives one line of a head. Returns false to abort the exchange.
  func receive(headLine: UnsafeRawBufferPointer) -> Bool {
    // For Gopher, libcurl passes on what it has sent.
    if reading == .plain { return true }
    count(delivered: headLine.count)
    if head.isEmpty { watchSpeed() }
    return accept { () throws(FetchFailure) in try head.add(line: headLine) }
  }

  /// Receives bytes of a body. Returns false to abort the exchange.
  func receive(bytes: UnsafeRawBufferPointer) -> Bool {
    count(delivered: bytes.count)
    return reading == .plain ? receive(plain: bytes) : receive(body: bytes)
  }

  private func receive(plain bytes: UnsafeRawBufferPointer) -> Bool {
    var bytes = bytes
    while !head.isComplete {
      var line: [UInt8]?
      guard accept({ () throws(FetchFailure) in line = try plain.nextLine(of: &bytes) }) else { return false }
      guard let line else { return true }
      guard receive(line) else { return false }
    }
    let body = plain.body(in: bytes)
    return (body.isEmpty || receive(body: body)) && !plain.isComplete
  }

  /// Receives one line of the head of a plain response.
  private func receive(_ line: [UInt8]) -> Bool {
    if head.isEmpty { watchSpeed() }
    return accept { () throws(FetchFailure) in
      try line.withUnsafeBytes { line in
        Result { () throws(FetchFailure) in try head.add(line: line) }
      }.get()
      if head.isComplete { try plain.begin(head.response) }
    }
  }

  private func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
    guard isUnwanted else { return deliver(bytes) }
    // The receiver keeps the start of an error page only if the request says so.
    let limit = request.responses.maxErrorBytes
    if unwantedBytes < limit, !deliver(bytes) { return false }
    unwantedBytes += bytes.count
    return unwantedBytes <= max(TransferLimits.maxUnwantedBytes, limit)
  }

  private func count(delivered count: Int) {
    delivered += count
    memory.floods.note(delivered: count)
  }

  private func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if reading == .undecoded, request.reading == nil, !isHeadDelivered, head.response.hasKnownCoding {
      isMisread = true
      return false
    }
    return accept { () throws(FetchFailure) in
      try deliverHead()
      try receiver.receive(bytes: bytes)
    }
  }

  private func accept(_ body: () throws(FetchFailure) -> Void) -> Bool {
    do throws(FetchFailure) {
      try body()
      return true
    } catch {
      abortReason = error
      return false
    }
  }

  /// True if the body need not be complete: that of a redirect, an error page, or a part although no range was
  /// requested.
  private var isUnwanted: Bool {
    switch request.responses.treated(head.statusCode) {
    case 200: false
    case 206 where request.headerFields[.range] != nil || head.response.holdsWholeRange: false
    default: !request.responses.keepsBody(head.statusCode, of: request.headerFields)
    }
  }

  /// Delivers the head to the receiver, once. Called at the first byte of the body or at the end: a head before that
  /// may belong to an interim response (1xx).
  private func deliverHead() throws(FetchFailure) {
    guard !isHeadDelivered else { return }
    isHeadDelivered = true
    var response = head.response
    switch request.responses.treated(head.statusCode) {
    case 206 where request.headerFields[.range] == nil && response.holdsWholeRange: response.status = .ok
    case 200: response.status = .ok
    default: break
    }
    var delivered = TransferHead(response: response)
    delivered.isPrivate = isPrivate
    try receiver.receive(head: delivered)
  }

  // MARK: Refused IP addresses

  /// Returns the failure if the policy refuses `address`; nil if it allows it.
  func refusal(of address: IPAddress) -> FetchFailure? {
    limits.addresses.refusal(of: address, for: request.source.host).map { refusal(of: "\(address)", $0) }
  }

  /// Returns the failure if the policy refuses one of the addresses to which a proxy may connect.
  private func refusal(of resolution: HostResolution) -> FetchFailure? {
    if case .addresses(let addresses) = resolution, !addresses.isEmpty {
      return addresses.lazy.compactMap(refusal).first
    }
    // The addresses of a name that only the proxy can resolve cannot be checked here.
    return limits.addresses.refusal(ofUnresolved: request.source.host).map { reason in
      FetchFailure(.blockedAddress, "Requests to \(request.source.host) through a proxy are \(reason).")
    }
  }

  private func refusal(of address: String, _ reason: String) -> FetchFailure {
    FetchFailure(.blockedAddress, "\(request.source.host) has the blocked address \(address) (\(reason)).")
  }
}

// MARK: Failure

extension CurlTransfer {
  /// Returns the failure that corresponds to an error of libcurl.
  func failure(for result: CURLcode) -> FetchFailure {
    if let refusedAddress { return refusedAddress }
    if let ports, memory.floods.hasEnded(ports) { return flooded }
    let text = text(of: result)
    var failure = FetchFailure(code(for: result, text: text), "\(text).\(remedy(for: result))")
    failure.isHandshake = result == CURLE_SSL_CONNECT_ERROR && failure.code == .connectionLost
    return failure
  }

  private func text(of result: CURLcode) -> String {
    let detail = String(cString: errorText)
    guard detail.isEmpty else { return detail }
    // libcurl's own text is about the arguments of its functions, which a line of a header is for it.
    return result == CURLE_BAD_FUNCTION_ARGUMENT
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
    case CURLE_PARTIAL_FILE: .truncated
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

extension HTTPResponse {
  /// The content codings that libcurl may know. A version without one of the last two fails with `bad_encoding`.
  private static let knownCodings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

  private var codings: [String] {
    (headerFields[.contentEncoding] ?? "").split(separator: ",").map { $0.trimmed.lowercased() }
      .filter { !["", "identity", "none"].contains($0) }
  }

  /// True if browsers do not know one of the content codings. They then decode nothing.
  fileprivate var hasUnknownCoding: Bool { codings.contains { !Self.knownCodings.contains($0) } }

  /// True if there are content codings, and browsers know all of them.
  var hasKnownCoding: Bool { !codings.isEmpty && !hasUnknownCoding }
}
