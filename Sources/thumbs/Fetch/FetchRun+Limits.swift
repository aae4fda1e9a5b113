import BatchFetch
import Dispatch
import Synchronization

extension FetchRun {
  /// The time between two checks of the limits.
  private static let interval = DispatchTimeInterval.milliseconds(50)

  /// Starts a timer that enforces the limits of the run, and returns it; nil if the run has no limits.
  func enforceLimits() -> (any DispatchSourceTimer)? {
    guard !limits.isEmpty else { return nil }
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "thumbs.limits"))
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval, leeway: .milliseconds(10))
    timer.setEventHandler { [self] in takeStep() }
    timer.activate()
    return timer
  }

  /// Throws `cancelled` if a limit of the run has been reached.
  func checkLimit() throws(FetchFailure) {
    guard !limits.isEmpty else { return }
    if let limit = state.withLock({ $0.limiter.reached }) { throw FetchFailure(.cancelled, limit.message) }
  }

  /// Cancels what is in flight if the downloads so far have reached a limit.
  func countDownloads() {
    guard !limits.isEmpty else { return }
    let (elapsed, downloaded) = (settings.started.duration(to: .now), pipeline.downloadedBytes)
    if state.withLock({ $0.limiter.check(after: elapsed, downloaded: downloaded) }) { pipeline.cancelAll() }
  }

  private func takeStep() {
    let (elapsed, count) = (settings.started.duration(to: .now), rows.readCount)
    let (step, run) = state.withLock { ($0.limiter.step(after: elapsed, rows: count), $0.run) }
    switch step {
    case .proceed: break
    // Every time: thread A finds no limit and begins a row while thread B reaches the limit and cancels the others.
    case .cancelRequests: pipeline.cancelAll()
    case .stopReading: run?.cancel()
    }
  }
}

extension FetchFailure {
  /// Returns the failure with the reason for a cancellation: the limit that the run has reached, if any.
  func explained(by limit: RunLimit?) -> FetchFailure {
    guard code == .cancelled, let limit else { return self }
    var failure = self
    failure.message = limit.message
    return failure
  }
}
