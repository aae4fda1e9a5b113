/// The deliveries that one caller has not received yet. A plain value.
///
/// New progress replaces progress not delivered yet. The end is delivered once, as the last delivery, and a
/// cancellation replaces an end not delivered yet.
struct CallerMailbox<Value: Sendable> {
  /// One delivery.
  enum Delivery {
    case progress(DownloadProgress)
    case end(Result<Value, FetchFailure>)
  }

  private var delivered: DownloadProgress?
  private var pending: DownloadProgress?
  private var end: Result<Value, FetchFailure>?
  private var isEndDelivered = false
  private var isDelivering = false

  /// Adds progress, unless later progress is known. Returns true if the caller of this method must begin to deliver.
  mutating func offer(_ progress: DownloadProgress) -> Bool {
    guard end == nil, !isEndDelivered, progress.isLater(than: pending ?? delivered) else { return false }
    pending = progress
    return beginDelivery()
  }

  /// Adds the end; only the first one counts. Returns true if the caller of this method must begin to deliver.
  ///
  /// - Parameter complete: The progress at the end, delivered before it.
  mutating func end(_ result: Result<Value, FetchFailure>, complete: DownloadProgress? = nil) -> Bool {
    guard end == nil, !isEndDelivered else { return false }
    end = result
    if let complete, complete != delivered { pending = complete }
    return beginDelivery()
  }

  /// Makes `cancelled` the end, unless an end has been delivered. Returns true if the caller of this method must begin
  /// to deliver.
  mutating func cancel() -> Bool {
    guard !isEndDelivered else { return false }
    end = .failure(.cancelled)
    pending = nil
    return beginDelivery()
  }

  /// Removes and returns the next delivery. When nothing is left, it ends the delivering and returns nil.
  mutating func next() -> Delivery? {
    if let progress = pending.take() {
      delivered = progress
      return .progress(progress)
    }
    if let end = end.take() {
      isEndDelivered = true
      return .end(end)
    }
    isDelivering = false
    return nil
  }

  /// Returns true to one thread at a time, so that deliveries to one caller keep their order.
  private mutating func beginDelivery() -> Bool {
    defer { isDelivering = true }
    return !isDelivering
  }
}
