internal import Foundation
internal import ImageCache
internal import Synchronization

/// One caller of a pipeline. Waits for the milestones of its request, tries the mirrors in turn, and gets progress and
/// exactly one end.
final class ThumbnailCaller: Sendable {
  private struct State {
    /// The number of URLs tried so far: that of the request, then its mirrors.
    var tried = 0
    /// The failures of those that were tried.
    var failures: [FetchFailure] = []
    /// The number of URLs whose work another caller had begun.
    var shared = 0

    /// True if this caller has begun no work.
    var isShared: Bool { shared > 0 && shared == tried }
  }

  let caller: Caller<ThumbnailSet>
  /// The request without its milestones. A caller must not keep a milestone that it waits for: see ``Milestone``.
  let request: ThumbnailRequest
  private let context: ThumbnailContext
  private let state = Mutex(State())

  init(
    _ request: ThumbnailRequest, in context: ThumbnailContext, on place: Caller<ThumbnailSet>.Place,
    progress: DownloadProgress.Handler? = nil, completion: @escaping ThumbnailPipeline.Completion
  ) {
    caller = Caller(
      priority: request.priority, in: context.room, on: place, progress: progress, completion: completion)
    var ready = request
    ready.after = []
    self.request = ready
    self.context = context
  }

  /// The number of calls to `cancelAll()` before this caller came.
  var epoch: Int { caller.epoch }
  var wantsProgress: Bool { caller.inbox.wantsProgress }

  /// Makes `cancelled` the end, unless the completion is being called already.
  func cancel() { caller.cancel() }

  /// Begins when `milestones` are reached; at once if `milestones` is empty.
  func start(after milestones: [Milestone]) {
    guard !caller.slot.isCancelled else { return }
    if let timeout = request.timeout {
      caller.limitTime(to: timeout, after: context.after) { [weak self] in self?.describe(&$0) }
    }
    guard !milestones.isEmpty else { return tryNextURL() }
    caller.wait(for: milestones, on: context.callbacks) { [self] in tryNextURL() }
  }

  /// Records that another caller had begun the work for the current URL.
  func joinedOthers() { state.withLock { $0.shared += 1 } }

  /// Receives the progress of the current URL. Attempts count over all URLs.
  func progressed(_ progress: DownloadProgress) {
    var progress = progress
    progress.attempt += earlierAttempts
    caller.offer(progress)
  }

  /// Receives the outcome of the current URL.
  func ended(_ outcome: Result<ThumbnailSet, FetchFailure>) {
    caller.slot.end()
    switch outcome {
    case .success(let set):
      let set = finished(set)
      caller.end(.success(set), complete: .complete(set))
    case .failure(let failure):
      // After `cancelAll()`, which cancels the job of the current URL, no mirror is tried either.
      if record(failure), failure.code != .cancelled, !caller.slot.isCancelled {
        context.callbacks.async { [self] in tryNextURL() }
      } else {
        caller.end(.failure(verdict))
      }
    }
  }

  private func tryNextURL() {
    guard !caller.slot.isCancelled else { return }
    let index = state.withLock { state in
      defer { state.tried += 1 }
      return state.tried
    }
    caller.slot.run { demand in
      var request = request
      if index > 0 {
        request.url = url(index)
        // A mirror that failed must not fail the next one by its cache entry.
        request.cacheKey = nil
      }
      request.priority = demand.priority
      context.load(request, demand, for: self)
      let id = ThumbnailContext.CallerID(self)
      return WorkHandle { [context] in
        context.leave(id)
      } setPriority: { [context] priority in
        context.change(id) { $0.priority = priority }
      } setPaused: { [context] isPaused in
        context.change(id) { $0.isPaused = isPaused }
      }
    }
  }

  /// Returns the URL of the request for 0, and its mirrors in order from 1 on.
  private func url(_ index: Int) -> String { index == 0 ? request.url : request.mirrors[index - 1] }

  /// Returns true if another URL is left.
  private func record(_ failure: FetchFailure) -> Bool {
    state.withLock { state in
      state.failures.append(failure.about(url(state.tried - 1)))
      return state.tried <= request.mirrors.count
    }
  }

  /// The set, with the attempts at other mirrors and the URL that it came from.
  private func finished(_ set: ThumbnailSet) -> ThumbnailSet {
    let (tried, isShared) = state.withLock { ($0.failures.isEmpty ? 1 : $0.tried, $0.isShared) }
    guard tried > 1 || isShared else { return set }
    var set = set
    set.isShared = isShared
    guard tried > 1 else { return set }
    set.attempts += earlierAttempts
    set.finalURL = set.finalURL ?? (try? SourceURL(url(tried - 1)))?.description
    return set
  }

  private var earlierAttempts: Int { state.withLock { $0.failures.reduce(0) { $0 + $1.attempts } } }

  /// The failure that is reported for all URLs: the cancellation, one that is worth retrying, or the last one.
  private var verdict: FetchFailure {
    let (failures, isShared) = state.withLock { ($0.failures, $0.isShared) }
    var verdict = failures.first { $0.code.isRetryable } ?? failures.last ?? .cancelled
    if caller.slot.isCancelled || failures.last?.code == .cancelled { verdict = .cancelled }
    verdict.attempts = failures.reduce(0) { $0 + $1.attempts }
    verdict.isShared = isShared
    if failures.count > 1, verdict.code != .cancelled { verdict.candidates = failures }
    return verdict
  }

  /// Adds what is known at the deadline to the failure of a request.
  private func describe(_ failure: inout FetchFailure) {
    let (tried, failures) = state.withLock { ($0.tried, $0.failures) }
    failure = failure.about(url(max(0, tried - 1)))
    failure.attempts = earlierAttempts
    if !failures.isEmpty { failure.candidates = failures + [failure] }
  }
}

extension DownloadProgress {
  /// Returns the final progress of the download for a set; nil if there was none.
  fileprivate static func complete(_ set: ThumbnailSet) -> DownloadProgress? {
    guard [.network, .file].contains(set.origin) else { return nil }
    return DownloadProgress(attempt: set.attempts, received: set.sourceBytes, total: set.sourceBytes)
  }
}
