internal import Foundation
internal import Synchronization

/// Downloads bytes, each source once at a time: callers who want the same bytes share one operation.
public final class Downloader: Sendable {
  /// Is told what a download came to, exactly once.
  public typealias Completion = @Sendable (Result<Download, FetchFailure>) -> Void

  private let environment: DownloadEnvironment
  private let running = Mutex(InFlight<DownloadRequest.Key, DownloadOperation, Completion>())
  /// Completions are never called on the transport's thread, nor inside `cancel`.
  private let callbacks = DispatchQueue(label: "thumbs.downloads", attributes: .concurrent)

  /// A downloader over `transport`; by default libcurl.
  public init(_ configuration: Configuration = Configuration(), transport: any Transport = CurlTransport()) {
    environment = DownloadEnvironment(configuration, transport: transport)
  }

  /// The number of downloads that run or wait.
  public var runningCount: Int { running.withLock { $0.count } }

  /// Whether no transfer is started. Those on their way go on.
  public var isSuspended: Bool {
    get { environment.transfers.isSuspended }
    set { environment.transfers.isSuspended = newValue }
  }

  /// Joins the download of `request`, or starts it.
  ///
  /// - Parameter completion: called exactly once, on a queue of the downloader; with `cancelled` after
  ///   ``FetchToken/cancel()``.
  @discardableResult
  public func download(_ request: DownloadRequest, completion: @escaping Completion) -> FetchToken {
    let key = request.key
    let joined = running.withLock { running in
      let joined = running.join(key, completion, priority: request.priority) { generation in
        DownloadOperation(request, in: environment) { [weak self] result in
          self?.ended(key, generation, result)
        }
      }
      joined.work.setPriority(joined.priority)
      return joined
    }
    if joined.isNew { environment.hosts.add(joined.work, host: request.source.host) }
    let id = joined.id
    return FetchToken(
      cancel: { [weak self] in self?.leave(key, id) },
      setPriority: { [weak self] in self?.setPriority($0, key, id) })
  }

  /// Cancels every download.
  public func cancelAll() {
    let operations = running.withLock { $0.works }
    for operation in operations { operation.cancel() }
  }

  private func ended(_ key: DownloadRequest.Key, _ generation: UInt64, _ result: Result<Download, FetchFailure>) {
    let completions = running.withLock { $0.settle(key, generation: generation).served }
    for completion in completions { callbacks.async { completion(result) } }
  }

  private func leave(_ key: DownloadRequest.Key, _ id: UInt64) {
    let left = running.withLock { running in
      let left = running.leave(key, id)
      if let (operation, priority) = left?.remaining { operation.setPriority(priority) }
      return left
    }
    guard let left else { return }
    left.abandoned?.cancel()
    let completion = left.caller
    callbacks.async { completion(.failure(.cancelled)) }
  }

  private func setPriority(_ priority: ThumbnailRequest.Priority, _ key: DownloadRequest.Key, _ id: UInt64) {
    running.withLock { running in
      if let (operation, priority) = running.setPriority(priority, key, id) { operation.setPriority(priority) }
    }
  }
}

extension DownloadOperation {
  /// Set under the downloader's lock: two changes must arrive in their order.
  fileprivate func setPriority(_ priority: ThumbnailRequest.Priority) {
    if queuePriority != priority.queuePriority { queuePriority = priority.queuePriority }
  }
}

extension ThumbnailRequest.Priority {
  /// The same for an operation queue.
  var queuePriority: Operation.QueuePriority {
    switch self {
    case .low: .low
    case .normal: .normal
    case .high: .high
    }
  }
}
