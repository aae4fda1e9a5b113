internal import Foundation
internal import Synchronization

/// Downloads bytes, each source once at a time: callers who want the same bytes share one operation.
public final class Downloader: Sendable {
  /// Is told what a download came to, exactly once.
  public typealias Completion = @Sendable (Result<Download, FetchFailure>) -> Void

  private struct Caller {
    var priority: ThumbnailRequest.Priority
    let completion: Completion
  }

  private let environment: DownloadEnvironment
  private let running = Mutex(InFlight<DownloadRequest.Key, DownloadOperation, Caller>())
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
  ///   ``DownloadToken/cancel()``.
  @discardableResult
  public func download(_ request: DownloadRequest, completion: @escaping Completion) -> DownloadToken {
    let key = request.key
    let joined = running.withLock { running in
      let joined = running.join(key, Caller(priority: request.priority, completion: completion)) { generation in
        DownloadOperation(request, in: environment) { [weak self] result in
          self?.ended(key, generation, result)
        }
      }
      setPriority(of: joined.work, from: running.callers(of: key))
      return joined
    }
    if joined.isNew { environment.hosts.add(joined.work, host: request.source.host) }
    let id = joined.id
    return DownloadToken(
      cancel: { [weak self] in self?.leave(key, id) },
      setPriority: { [weak self] in self?.setPriority($0, key, id) })
  }

  /// Cancels every download.
  public func cancelAll() {
    let operations = running.withLock { $0.works }
    for operation in operations { operation.cancel() }
  }

  private func ended(_ key: DownloadRequest.Key, _ generation: UInt64, _ result: Result<Download, FetchFailure>) {
    let callers = running.withLock { $0.settle(key, generation: generation).served }
    for caller in callers { callbacks.async { caller.completion(result) } }
  }

  private func leave(_ key: DownloadRequest.Key, _ id: UInt64) {
    let left = running.withLock { running in
      let left = running.leave(key, id)
      if let operation = running.work(of: key) { setPriority(of: operation, from: running.callers(of: key)) }
      return left
    }
    guard let left else { return }
    left.abandoned?.cancel()
    callbacks.async { left.caller.completion(.failure(.cancelled)) }
  }

  private func setPriority(_ priority: ThumbnailRequest.Priority, _ key: DownloadRequest.Key, _ id: UInt64) {
    running.withLock { running in
      guard let operation = running.update(key, id, { $0.priority = priority }) else { return }
      setPriority(of: operation, from: running.callers(of: key))
    }
  }

  /// The highest of the callers counts. Set inside the lock: two changes must arrive in their order.
  private func setPriority(of operation: DownloadOperation, from callers: [Caller]) {
    let priority = (callers.map(\.priority).max() ?? .normal).queuePriority
    if operation.queuePriority != priority { operation.queuePriority = priority }
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
