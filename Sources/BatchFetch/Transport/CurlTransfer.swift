internal import CCurl
internal import HTTPTypes

/// One exchange on the event loop's thread: what libcurl tells of it, passed on to its receiver.
final class CurlTransfer {
  let id: CurlEventLoop.TransferID
  let handle: UnsafeMutableRawPointer
  let request: TransferRequest
  /// What libcurl writes its own words about a failure into.
  let errorText: UnsafeMutablePointer<CChar>
  /// The request's header lines; libcurl reads them as long as the exchange lasts.
  var headerLines: UnsafeMutablePointer<curl_slist>?
  /// Why this side gave the exchange up, which libcurl's result does not say. The first reason counts.
  var refusal: FetchFailure?

  private let receiver: any TransferReceiver
  private let deadline: ContinuousClock.Instant
  private var head = HeadParser()
  private var isHeadDelivered = false

  init(
    id: CurlEventLoop.TransferID, handle: UnsafeMutableRawPointer, request: TransferRequest,
    receiver: any TransferReceiver
  ) {
    self.id = id
    self.handle = handle
    self.request = request
    self.receiver = receiver
    self.deadline = .now + request.limits.firstByte
    self.errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setOptions()
  }

  deinit {
    curl_slist_free_all(headerLines)
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

  /// When the first byte is due; nil after it came.
  var firstByteDeadline: ContinuousClock.Instant? { head.isEmpty ? deadline : nil }

  /// The failure of a first byte that did not come.
  var overdue: FetchFailure {
    FetchFailure(.timeoutFirstByte, "\(request.source.host) did not answer within \(request.limits.firstByte).")
  }

  /// A line of a head. False gives the exchange up.
  func hear(headLine: UnsafeRawBufferPointer) -> Bool {
    if head.isEmpty { watchSpeed() }
    head.add(line: headLine)
    return true
  }

  /// Bytes of the final body. False gives the exchange up.
  func hear(bytes: UnsafeRawBufferPointer) -> Bool {
    do throws(FetchFailure) {
      try deliverHead()
      try receiver.receive(bytes: bytes)
      return true
    } catch {
      refusal = refusal ?? error
      return false
    }
  }

  /// libcurl is done with the exchange.
  func finish(with result: CURLcode) {
    guard result == CURLE_OK else { return finish(with: failure(for: result)) }
    do throws(FetchFailure) {
      try deliverHead()
      receiver.receiveEnd(nil)
    } catch {
      receiver.receiveEnd(error)
    }
  }

  /// The exchange ends here, whatever libcurl thinks.
  func finish(with failure: FetchFailure) { receiver.receiveEnd(failure) }

  /// Only the body, or the end, tells that a head was the last one: redirects have heads too.
  private func deliverHead() throws(FetchFailure) {
    guard !isHeadDelivered else { return }
    isHeadDelivered = true
    let address = ccurl_get_string(handle, CURLINFO_EFFECTIVE_URL).map { String(cString: $0) }
    let final = address.flatMap { try? SourceURL($0).description }
    try receiver.receive(
      head: TransferHead(response: head.response, finalURL: final == request.source.description ? nil : final))
  }
}
