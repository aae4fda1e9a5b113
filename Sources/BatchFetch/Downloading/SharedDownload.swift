internal import Synchronization

/// What the callers of one key wait for: a download that runs in an operation, or rests while all of them have paused
/// it. Resting, it holds its bytes and nobody's place; resumed, it waits in its host's queue like a new one.
final class SharedDownload: Sendable {
  private struct State {
    var download = SharedDownloadState<DownloadOperation>()
    var meter: ProgressMeter
  }

  let request: DownloadRequest
  let generation: UInt64
  private let environment: DownloadEnvironment
  private let created = ContinuousClock.now
  private let state: Mutex<State>

  /// It does nothing before somebody wants it.
  init(_ request: DownloadRequest, generation: UInt64, in environment: DownloadEnvironment) {
    self.request = request
    self.generation = generation
    self.environment = environment
    state = Mutex(State(meter: ProgressMeter(interval: environment.progressInterval)))
  }

  /// Its callers want it like this. `owner` is told of the end; running, the download keeps it alive.
  func want(_ wish: SharedDownloadState<DownloadOperation>.Wish, for owner: Downloader) {
    act(for: owner) { $0.want(wish) { self.operation(from: $0, for: owner) } }
  }

  /// Ends it with `cancelled`.
  func cancel(for owner: Downloader) {
    act(for: owner) { $0.cancel() }
  }

  /// Reports progress from now on. The result is how far it is.
  func watch() -> DownloadProgress? { state.withLock { $0.meter.watch() } }

  private func operation(from rest: DownloadState, for owner: Downloader) -> DownloadOperation {
    DownloadOperation(
      request, from: rest, created: created, in: environment,
      progress: { [self] in progressed($0, owner) }, ending: { [self] in ended($0, owner) })
  }

  private func progressed(_ progress: DownloadProgress, _ owner: Downloader) {
    let isTold = state.withLock { $0.meter.record(progress, now: environment.elapsed) }
    if isTold { owner.progressed(self, progress) }
  }

  private func ended(_ ending: DownloadOperation.Ending, _ owner: Downloader) {
    switch ending {
    case .finished(let result):
      state.withLock { $0.download.finish() }
      owner.ended(self, result)
    case .paused(let rest):
      act(for: owner) { $0.rest(rest) { self.operation(from: $0, for: owner) } }
    }
  }

  private typealias Action = SharedDownloadState<DownloadOperation>.Action

  private func act(for owner: Downloader, _ event: (inout SharedDownloadState<DownloadOperation>) -> Action) {
    let action = state.withLock { state in
      let action = event(&state.download)
      switch action {
      // Inside the lock: two changes must arrive in their order.
      case .start(let operation): operation.setPriority(state.download.priority)
      case .setPriority(let operation, let priority): operation.setPriority(priority)
      default: break
      }
      return action
    }
    switch action {
    case .none, .setPriority: break
    case .start(let operation): environment.hosts.add(operation, host: request.source.host)
    case .pause(let operation): operation.pause()
    case .cancel(let operation): operation.cancel()
    case .end: owner.ended(self, .failure(.cancelled))
    }
  }
}
