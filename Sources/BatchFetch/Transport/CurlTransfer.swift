internal import CCurl
internal import HTTPTypes

/// One exchange on the event loop's thread, over all its redirects: what libcurl tells of it, passed on to its
/// receiver.
final class CurlTransfer {
  /// What has to be done for the exchange next.
  enum Step {
    /// Libcurl makes the exchange that the handle is set up for.
    case exchange
    /// The name service is asked about this host.
    case resolve(String)
    /// The exchange is over: nil when the whole answer came.
    case end(FetchFailure?)
  }

  private enum Phase {
    /// The target's name is looked up.
    case resolving
    /// The target's name is judged before a proxy is asked for it.
    case judging
    case exchanging
  }

  let id: CurlEventLoop.TransferID
  let handle: UnsafeMutableRawPointer
  let limits: TransferLimits
  let configuration: CurlTransport.Configuration
  private(set) var trail: RedirectTrail
  /// What libcurl writes its own words about a failure into.
  let errorText: UnsafeMutablePointer<CChar>
  /// The request's header lines; libcurl reads them as long as the exchange lasts.
  var headerLines: UnsafeMutablePointer<curl_slist>?
  /// The host's addresses, in libcurl's words; it reads them as long as the exchange lasts.
  var addressLines: UnsafeMutablePointer<curl_slist>?
  /// Why an address was not connected to. Another address of the host may have served.
  var refusedAddress: FetchFailure?

  private let receiver: any TransferReceiver
  private let end: ContinuousClock.Instant
  private var firstByteDeadline: ContinuousClock.Instant
  private var phase = Phase.exchanging
  private var head = HeadParser()
  private var isHeadDelivered = false
  /// Why this side gave the exchange up, which libcurl's result does not say.
  private var givenUp: FetchFailure?
  /// Bytes of bodies that nobody wants.
  private var unwantedBytes = 0

  init(
    id: CurlEventLoop.TransferID, handle: UnsafeMutableRawPointer, request: TransferRequest,
    receiver: any TransferReceiver, configuration: CurlTransport.Configuration
  ) {
    self.id = id
    self.handle = handle
    var request = request
    request.limits = request.limits.inRange
    limits = request.limits
    self.configuration = configuration
    self.receiver = receiver
    trail = RedirectTrail(request)
    end = .now + request.limits.total
    firstByteDeadline = .now + request.limits.firstByte
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_slist_free_all(headerLines)
    curl_slist_free_all(addressLines)
    errorText.deallocate()
  }

  /// The exchange that uses `handle`.
  static func of(_ handle: UnsafeMutableRawPointer) -> CurlTransfer? {
    ccurl_get_private(handle).map { of(context: $0) }
  }

  /// The exchange behind a callback's context. The table keeps it alive while libcurl may call.
  static func of(context: UnsafeMutableRawPointer) -> CurlTransfer {
    Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: The steps

  /// The first step to the current hop.
  func begin() -> Step {
    firstByteDeadline = .now + limits.firstByte
    guard let proxy = configuration.proxies.proxy(for: trail.hop) else {
      if trail.hop.isLoopbackName { return exchange(at: IPAddress.loopback) }
      guard let host = trail.hop.nameToLookUp else { return exchange() }
      phase = .resolving
      return .resolve(host)
    }
    let host = trail.hop.hostName
    if let address = IPAddress(host) {
      return refusal(of: address).map { .end($0) } ?? exchange(over: proxy)
    }
    guard limits.addresses == .publicOnly else { return exchange(over: proxy) }
    phase = .judging
    return .resolve(host)
  }

  /// What follows from an answer of the name service.
  func step(after resolution: HostResolution) -> Step {
    if case .resolving = phase {
      guard case .addresses(let addresses) = resolution, !addresses.isEmpty else {
        return .end(resolution.failure(of: trail.hop.hostName))
      }
      return exchange(at: addresses)
    }
    // A name that only the proxy knows cannot be judged here.
    guard case .addresses(let addresses) = resolution, let failure = addresses.lazy.compactMap(refusal).first else {
      return exchange(over: configuration.proxies.proxy(for: trail.hop))
    }
    return .end(failure)
  }

  /// What follows from libcurl's being done.
  func step(after result: CURLcode) -> Step {
    if let givenUp { return .end(givenUp) }
    // Of an answer that says nothing but its status, the rest may be missing.
    guard result == CURLE_OK || (head.isComplete && isUnwanted) else {
      return .end(failure(for: result))
    }
    guard head.isComplete else { return .end(headless) }
    do throws(FetchFailure) {
      if let location = RedirectTrail.location(in: head.response) {
        try trail.follow(location, in: head.response)
        return begin()
      }
      try deliverHead()
      return .end(nil)
    } catch {
      return .end(error)
    }
  }

  /// Tells the end. Nothing is told after it.
  func finish(with failure: FetchFailure?) { receiver.receiveEnd(failure) }

  /// - Parameter addresses: those of the host, where its name was looked up.
  private func exchange(over proxy: String? = nil, at addresses: [IPAddress] = []) -> Step {
    guard !isTimeOver else { return .end(tooLong) }
    phase = .exchanging
    head = HeadParser()
    refusedAddress = nil
    setOptions(proxy: proxy, addresses: addresses, timeLeft: ContinuousClock.now.duration(to: end))
    return .exchange
  }

  // MARK: The deadline that libcurl does not know

  /// When the next answer is due; nil while one is coming.
  var deadline: ContinuousClock.Instant? {
    if case .exchanging = phase, !head.isEmpty { return nil }
    return min(firstByteDeadline, end)
  }

  /// The failure of an answer that did not come.
  var overdue: FetchFailure {
    if case .resolving = phase, let failure = HostResolution.temporary.failure(of: trail.hop.hostName) {
      return failure
    }
    guard firstByteDeadline < end else { return tooLong }
    return FetchFailure(.timeoutFirstByte, "\(trail.hop.host) did not answer within \(limits.firstByte).")
  }

  /// Whether something of an answer came.
  var hasBegun: Bool { !head.isEmpty }

  /// Whether the whole attempt took too long, over all its hops.
  var isTimeOver: Bool { ContinuousClock.now >= end }

  private var tooLong: FetchFailure { FetchFailure(.timeoutTotal, "No answer within \(limits.total).") }

  // MARK: What libcurl calls

  /// A line of a head. False gives the exchange up.
  func hear(headLine: UnsafeRawBufferPointer) -> Bool {
    if head.isEmpty { watchSpeed() }
    return accept { () throws(FetchFailure) in try head.add(line: headLine) }
  }

  /// Bytes of a body. False gives the exchange up.
  func hear(bytes: UnsafeRawBufferPointer) -> Bool {
    guard !isUnwanted else {
      unwantedBytes += bytes.count
      return unwantedBytes <= TransferLimits.maxUnwantedBytes
    }
    return accept { () throws(FetchFailure) in
      try deliverHead()
      try receiver.receive(bytes: bytes)
    }
  }

  /// Why `address` must not be talked to; nil where it may.
  func refusal(of address: IPAddress) -> FetchFailure? {
    limits.addresses.refusal(of: address).map { reason in
      FetchFailure(.blockedAddress, "\(trail.hop.host) is at \(address), which is \(reason).")
    }
  }

  private func accept(_ body: () throws(FetchFailure) -> Void) -> Bool {
    do throws(FetchFailure) {
      try body()
      return true
    } catch {
      givenUp = error
      return false
    }
  }

  /// Whether the body is no picture: a redirect's, an error page, or a part that nobody asked for.
  private var isUnwanted: Bool {
    switch head.response.status {
    case .ok, .nonAuthoritativeInformation: false
    case .partialContent: trail.headerFields[.range] == nil && !head.response.holdsWholeRange
    default: true
    }
  }

  /// Only the body, or the end, tells that a head was the last one: a 1xx has a head too.
  private func deliverHead() throws(FetchFailure) {
    guard !isHeadDelivered else { return }
    isHeadDelivered = true
    var response = head.response
    if trail.headerFields[.range] == nil, response.holdsWholeRange { response.status = .ok }
    // A 200 that a proxy has changed something of (RFC 9110, section 15.3.4).
    if response.status == .nonAuthoritativeInformation { response.status = .ok }
    let isCacheable = trail.hops.allSatisfy { configuration.trusts($0, as: trail.hops[0]) }
    try receiver.receive(
      head: TransferHead(
        response: response, finalURL: trail.finalURL, redirects: trail.redirects, isCacheable: isCacheable))
  }
}
