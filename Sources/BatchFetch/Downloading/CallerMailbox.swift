/// What one caller is still to be told. A plain value: progress is replaced by newer progress before it is told, the
/// end comes once and last, and a cancel takes the place of an end that was not told yet.
struct CallerMailbox {
  /// One thing to tell.
  enum Delivery {
    case progress(DownloadProgress)
    case end(Result<Download, FetchFailure>)
  }

  private var told: DownloadProgress?
  private var pending: DownloadProgress?
  private var end: Result<Download, FetchFailure>?
  private var isEndTaken = false
  private var isDelivering = false

  /// How it ended; nil before the caller is told.
  var outcome: Result<Download, FetchFailure>? { isEndTaken ? end : nil }

  /// News of the download. True when somebody has to begin to deliver.
  mutating func offer(_ progress: DownloadProgress) -> Bool {
    guard end == nil, progress.isLater(than: pending ?? told) else { return false }
    pending = progress
    return beginDelivery()
  }

  /// The end. The last progress before it is that of the whole body. True when somebody has to begin to deliver.
  mutating func end(_ result: Result<Download, FetchFailure>) -> Bool {
    guard end == nil else { return false }
    end = result
    if let complete = DownloadProgress.complete(result), complete != told { pending = complete }
    return beginDelivery()
  }

  /// The caller wants to hear no more than that. True when somebody has to begin to deliver.
  mutating func cancel() -> Bool {
    guard !isEndTaken else { return false }
    end = .failure(.cancelled)
    pending = nil
    return beginDelivery()
  }

  /// What to tell next; nil when there is nothing left, and the delivery is over.
  mutating func next() -> Delivery? {
    if let progress = pending.take() {
      told = progress
      return .progress(progress)
    }
    if let end, !isEndTaken {
      isEndTaken = true
      return .end(end)
    }
    isDelivering = false
    return nil
  }

  /// True for one deliverer at a time: what one caller is told, it is told in order.
  private mutating func beginDelivery() -> Bool {
    defer { isDelivering = true }
    return !isDelivering
  }
}
