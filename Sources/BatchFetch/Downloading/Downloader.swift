public import Foundation
internal import Synchronization

/// Downloads bytes, each source once at a time: callers who want the same bytes share one operation.
public final class Downloader: Sendable {
  /// Is told what a download came to, exactly once.
  public typealias Completion = @Sendable (Result<Download, FetchFailure>) -> Void

  /// Who waits for which download.
  typealias Running = InFlight<DownloadRequest.Key, SharedDownload, DownloadCall>

  struct State {
    var running = Running()
    /// Callers who wait for other downloads.
    var queued: [ObjectIdentifier: DownloadCall] = [:]
    var observers = ObserverList()
  }

  /// Entered for each caller until its completion has returned. For `notify`; and for `wait`, on a thread that may
  /// block.
  public let group = DispatchGroup()
  let state = Mutex(State())
  /// Completions are never called on the transport's thread, nor inside `cancel`.
  let callbacks = DispatchQueue(label: "thumbs.downloads", attributes: .concurrent)
  let environment: DownloadEnvironment

  /// A downloader over `transport`; by default libcurl.
  public init(_ configuration: Configuration = Configuration(), transport: any Transport = CurlTransport()) {
    environment = DownloadEnvironment(configuration, transport: transport)
  }

  deinit {
    // What runs keeps the downloader alive. What rests can never be resumed now: its callers must hear of an end too.
    let resting = state.withLock { $0.running.callers }
    for call in resting { call.end(.failure(.cancelled)) }
  }

  /// The number of downloads that run, wait or rest.
  public var runningCount: Int { state.withLock { $0.running.count + $0.queued.count } }

  /// The number of hosts with downloads, or with a pause.
  var hostCount: Int { environment.hosts.count }

  /// Whether no transfer is started. Those on their way go on.
  public var isSuspended: Bool {
    get { environment.transfers.isSuspended }
    set { environment.transfers.isSuspended = newValue }
  }

  /// Joins the download of `request`, or starts it.
  ///
  /// - Parameters:
  ///   - request: what is wanted.
  ///   - dependencies: downloads to wait for, of this downloader or another. It starts after their completions have
  ///     returned, and also where they failed or were cancelled; ``DownloadToken/result`` tells. Meanwhile it takes
  ///     nobody's place. Nothing can wait for itself: a token exists only after what it waits for.
  ///   - progress: is told how far the download is, never after `completion` was called.
  ///   - completion: called exactly once, on a queue of the downloader; with `cancelled` after
  ///     ``DownloadToken/cancel()``.
  @discardableResult
  public func download(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [], progress: DownloadProgress.Handler? = nil,
    completion: @escaping Completion
  ) -> DownloadToken {
    let call = DownloadCall(progress: progress, completion: completion, on: callbacks, in: group)
    call.place.withLock { $0 = .queued(.init(priority: request.priority)) }
    if dependencies.isEmpty { join(request, call) } else { enqueue(call, after: dependencies) { _ in request } }
    return DownloadToken(call: call, downloader: self)
  }

  /// Cancels every download, those that rest or wait for others included. Each caller is told `cancelled`.
  public func cancelAll() {
    let (works, queued) = state.withLock { state in
      for call in state.queued.values { call.place.withLock { $0 = .left } }
      defer { state.queued = [:] }
      return (state.running.works, Array(state.queued.values))
    }
    for work in works { work.cancel(for: self) }
    for call in queued { call.cancel() }
  }

  /// Gives a caller its place in the table, unless it has left meanwhile, or the request must not be made.
  func join(_ request: DownloadRequest, _ call: DownloadCall) {
    do throws(FetchFailure) {
      try environment.files.check(request.source)
      try request.headerFields.checkFraming()
    } catch {
      return leave(call, error)
    }
    let joined = state.withLock { state in
      state.queued[ObjectIdentifier(call)] = nil
      return call.place.withLock { place -> Running.Joined? in
        guard case .queued(let wish) = place else { return nil }
        let joined = state.running.join(request.key, call, wish: wish) { generation in
          SharedDownload(request, generation: generation, in: environment)
        }
        place = .joined(request.key, joined.id)
        if joined.isNew { state.begin(joined.work) }
        return joined
      }
    }
    guard let joined else { return }
    if call.wantsProgress, let progress = joined.work.watch() { call.offer(progress) }
    joined.work.want(joined.wish, for: self)
  }

  // MARK: What callers want

  func cancel(_ call: DownloadCall) {
    let left = state.withLock { state in
      let place = call.place.withLock { place in
        defer { place = .left }
        return place
      }
      state.queued[ObjectIdentifier(call)] = nil
      guard case .joined(let key, let id) = place else { return nil as Running.Left? }
      let left = state.running.leave(key, id)
      if let abandoned = left?.abandoned { state.finish(abandoned, .failure(.cancelled)) }
      return left
    }
    call.cancel()
    left?.abandoned?.cancel(for: self)
    if let (work, wish) = left?.remaining { work.want(wish, for: self) }
  }

  func change(_ call: DownloadCall, _ change: @Sendable (inout DownloadCall.Wish) -> Void) {
    let changed = state.withLock { state in
      call.place.withLock { place in
        switch place {
        case .queued(var wish):
          change(&wish)
          place = .queued(wish)
        case .joined(let key, let id): return state.running.change(key, id, change)
        case .left: break
        }
        return nil
      }
    }
    if let (work, wish) = changed { work.want(wish, for: self) }
  }

  // MARK: What downloads tell

  func progressed(_ work: SharedDownload, _ progress: DownloadProgress) {
    let callers = state.withLock { state in
      guard let waiting = state.running.waiting(for: work.request.key, generation: work.generation) else {
        return [DownloadCall]()
      }
      state.observers.tell { [source = work.request.source] in $0.download(source, didProgress: progress) }
      return waiting.callers
    }
    for call in callers { call.offer(progress) }
  }

  func ended(_ work: SharedDownload, _ result: Result<Download, FetchFailure>) {
    let callers = state.withLock { state in
      let callers = state.running.settle(work.request.key, generation: work.generation).served
      // Nobody is left where the last caller gave it up: that was its end.
      if !callers.isEmpty { state.finish(work, result) }
      return callers
    }
    for call in callers { call.end(result) }
  }
}

extension Downloader.State {
  /// A download begins. Told under the lock: its end cannot come first.
  fileprivate mutating func begin(_ work: SharedDownload) {
    observers.tell { [source = work.request.source] in $0.downloadDidStart(source) }
    if !observers.isEmpty { _ = work.watch() }
  }

  fileprivate mutating func finish(_ work: SharedDownload, _ result: Result<Download, FetchFailure>) {
    observers.tell { [source = work.request.source] in $0.downloadDidFinish(source, result) }
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
