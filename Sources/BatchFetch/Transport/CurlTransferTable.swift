internal import CCurl

/// The exchanges of one event loop. Lives on the loop's thread, and nowhere else.
struct CurlTransferTable {
  private let multi: UnsafeMutableRawPointer?
  private var transfers: [CurlEventLoop.TransferID: CurlTransfer] = [:]
  /// Handles to use again: a new one costs more than a small exchange.
  private var idleHandles: [UnsafeMutableRawPointer] = []
  private static let idleLimit = 64

  init(multi: UnsafeMutableRawPointer?) { self.multi = multi }

  mutating func start(_ id: CurlEventLoop.TransferID, _ request: TransferRequest, _ receiver: any TransferReceiver) {
    guard let multi, let handle = idleHandles.popLast() ?? curl_easy_init() else {
      return receiver.receiveEnd(FetchFailure(.connectFailed, "libcurl could not be set up."))
    }
    let transfer = CurlTransfer(id: id, handle: handle, request: request, receiver: receiver)
    transfers[id] = transfer
    let result = curl_multi_add_handle(multi, handle)
    if result != CURLM_OK {
      end(id, FetchFailure(.connectFailed, String(cString: curl_multi_strerror(result))))
    }
  }

  /// Ends what libcurl is done with.
  mutating func endFinished() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let result = ccurl_message_result(message)
      guard let transfer = CurlTransfer.of(handle) else { continue }
      take(transfer.id)?.finish(with: result)
      recycle(handle)
    }
  }

  /// Ends one exchange before its time. Nothing happens where it is over already.
  mutating func end(_ id: CurlEventLoop.TransferID, _ failure: FetchFailure) {
    guard let transfer = take(id) else { return }
    transfer.finish(with: failure)
    recycle(transfer.handle)
  }

  mutating func endAll(_ failure: FetchFailure) {
    for id in Array(transfers.keys) { end(id, failure) }
    for handle in idleHandles { curl_easy_cleanup(handle) }
    idleHandles.removeAll()
  }

  /// Ends the exchanges whose first byte is overdue; the result is how long nothing needs to be looked at.
  mutating func expire(at now: ContinuousClock.Instant) -> Duration {
    var wait = Duration.seconds(60)
    for (id, transfer) in transfers {
      guard let deadline = transfer.firstByteDeadline else { continue }
      if deadline <= now {
        end(id, transfer.overdue)
      } else {
        wait = min(wait, now.duration(to: deadline) + .milliseconds(1))
      }
    }
    return wait
  }

  private mutating func take(_ id: CurlEventLoop.TransferID) -> CurlTransfer? {
    guard let transfer = transfers.removeValue(forKey: id) else { return nil }
    // Taking an unfinished handle off closes its connection: half an answer cannot be followed by another.
    curl_multi_remove_handle(multi, transfer.handle)
    return transfer
  }

  private mutating func recycle(_ handle: UnsafeMutableRawPointer) {
    guard idleHandles.count < Self.idleLimit else { return curl_easy_cleanup(handle) }
    curl_easy_reset(handle)
    idleHandles.append(handle)
  }
}
