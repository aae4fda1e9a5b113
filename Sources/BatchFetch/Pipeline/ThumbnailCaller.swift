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
  }

  /// The place where the closures are called.
  enum Place: Sendable {
    case queue(DispatchQueue)
    /// The thread that makes progress or ends the request. It may be one that renders, reads the cache or cancels.
    case sameThread
  }

  let inbox: Inbox<ThumbnailSet>
  /// Holds the place in the table of jobs.
  let slot: TaskHandleSlot
  /// The request without its milestones. A caller must not keep a milestone that it waits for: see ``Milestone``.
  let request: ThumbnailRequest
  private let context: ThumbnailContext
  private let place: Place
  private let priority: Mutex<CallerPriority>
  /// The number of calls to `cancelAll()` before this caller was created.
  let epoch: Int
  private let state: Mutex<State>
  private let deadline = Deadline()

  init(
    _ request: ThumbnailRequest, in context: ThumbnailContext, on place: Place,
    progress: DownloadProgress.Handler? = nil, completion: @escaping ThumbnailPipeline.Completion
  ) {
    inbox = Inbox(progress: progress, completion: completion)
    slot = TaskHandleSlot(priority: request.priority)
    priority = Mutex(CallerPriority(request.priority))
    var ready = request
    ready.after = []
    self.request = ready
    self.context = context
    epoch = context.epoch.load(ordering: .acquiring)
    self.place = place
    state = Mutex(State())
  }

  /// Begins when `milestones` are reached; at once if `milestones` is empty.
  func start(after milestones: [Milestone]) {
    guard !slot.isCancelled else { return }
    if let timeout = request.timeout { limitTime(to: timeout) }
    guard !milestones.isEmpty else { return tryNextURL() }
    wait(for: milestones)
    guard context.addWaiting(self) else { return cancel() }
    // Thread A is here while thread B cancels. B marks the slot and then removes the caller from the table; A adds the
    // caller and then checks the mark. So at least one of them removes it.
    if slot.isCancelled { _ = context.removeWaiting(self) }
    Milestone.whenAllReached(milestones, on: context.callbacks) { [self] in
      stopWaiting()
      if context.removeWaiting(self) { tryNextURL() }
    }
  }

  /// Makes `cancelled` the end, unless the completion is being called already.
  func cancel() {
    // First the end, then the place: a success that is being delivered by another thread becomes `cancelled`.
    post(inbox.cancel())
    leave()
  }

  /// Ends the request with `timeout_total` after `limit`, unless it has ended by then.
  private func limitTime(to limit: Duration) {
    deadline.set(to: limit, after: context.after) { [weak self] in
      guard let self else { return }
      post(inbox.end(.failure(FetchFailure(pastDeadline: limit, attempts: earlierAttempts))))
      leave()
    }
  }

  /// Gives up the place of a caller that has its end.
  private func leave() {
    slot.cancel()
    stopWaiting(forever: true)
    _ = context.removeWaiting(self)
  }

  /// Receives the progress of the current URL. Attempts count over all URLs.
  func progressed(_ progress: DownloadProgress) {
    var progress = progress
    progress.attempt += earlierAttempts
    post(inbox.offer(progress))
  }

  /// Receives the outcome of the current URL.
  func ended(_ outcome: Result<ThumbnailSet, FetchFailure>) {
    slot.end()
    switch outcome {
    case .success(let set):
      let set = finished(set)
      post(inbox.end(.success(set), complete: .complete(set)))
    case .failure(let failure):
      // After `cancelAll()`, which cancels the job of the current URL, no mirror is tried either.
      if record(failure), failure.code != .cancelled, !slot.isCancelled {
        context.callbacks.async { [self] in tryNextURL() }
      } else {
        post(inbox.end(.failure(verdict)))
      }
    }
  }

  private func tryNextURL() {
    guard !slot.isCancelled else { return }
    let index = state.withLock { state in
      defer { state.tried += 1 }
      return state.tried
    }
    slot.run { demand in
      var request = request
      if index > 0 {
        request.url = request.mirrors[index - 1]
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

  /// Returns true if another URL is left.
  private func record(_ failure: FetchFailure) -> Bool {
    state.withLock { state in
      state.failures.append(failure)
      return state.tried <= request.mirrors.count
    }
  }

  /// The set, with the attempts at other mirrors and the URL that it came from.
  private func finished(_ set: ThumbnailSet) -> ThumbnailSet {
    let tried = state.withLock { $0.failures.isEmpty ? 1 : $0.tried }
    guard tried > 1 else { return set }
    var set = set
    set.attempts += earlierAttempts
    let url = request.mirrors[tried - 2]
    set.finalURL = set.finalURL ?? (try? SourceURL(url))?.description
    return set
  }

  private var earlierAttempts: Int { state.withLock { $0.failures.reduce(0) { $0 + $1.attempts } } }

  /// The failure that is reported for all URLs: the cancellation, one that is worth retrying, or the last one.
  private var verdict: FetchFailure {
    let failures = state.withLock { $0.failures }
    var verdict = failures.first { $0.code.isRetryable } ?? failures.last ?? .cancelled
    if slot.isCancelled || failures.last?.code == .cancelled { verdict = .cancelled }
    verdict.attempts = failures.reduce(0) { $0 + $1.attempts }
    return verdict
  }

  private func post(_ needsDelivery: Bool) {
    guard needsDelivery else { return }
    switch place {
    case .queue(let queue): queue.async { [self] in deliver() }
    case .sameThread: deliver()
    }
  }

  private func deliver() {
    guard inbox.deliver() else { return }
    deadline.cancel()
    context.group.leave()
  }
}

extension ThumbnailCaller: PrioritizedCaller {
  func withPriority<Result: Sendable>(_ body: (inout CallerPriority) -> Result) -> Result {
    priority.withLock { body(&$0) }
  }

  func follow(_ priority: Priority) { slot.setPriority(priority) }
}

extension DownloadProgress {
  /// Returns the final progress of the download for a set; nil if there was none.
  fileprivate static func complete(_ set: ThumbnailSet) -> DownloadProgress? {
    guard [.network, .file].contains(set.origin) else { return nil }
    return DownloadProgress(attempt: set.attempts, received: set.sourceBytes, total: set.sourceBytes)
  }
}
