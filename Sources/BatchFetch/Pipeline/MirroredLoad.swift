internal import Foundation
internal import Synchronization

/// A request whose picture is at several addresses: the next one is asked as soon as one has failed.
final class MirroredLoad: Sendable {
  private struct State {
    /// Addresses that were not tried, the next one first.
    var addresses: ArraySlice<String>
    /// What to cancel. Nil between two addresses.
    var token: FetchToken?
    var priority: ThumbnailRequest.Priority
    var isCancelled = false
    /// What those that failed came to.
    var failures: [FetchFailure] = []
  }

  private let request: ThumbnailRequest
  private let pipeline: ThumbnailPipeline
  private let queue: DispatchQueue
  private let completion: ThumbnailPipeline.Completion
  private let state: Mutex<State>

  init(
    _ request: ThumbnailRequest, over pipeline: ThumbnailPipeline, on queue: DispatchQueue,
    completion: @escaping ThumbnailPipeline.Completion
  ) {
    self.request = request
    self.pipeline = pipeline
    self.queue = queue
    self.completion = completion
    state = Mutex(State(addresses: request.mirrors[...], priority: request.priority))
  }

  /// Asks the first address.
  func start() -> FetchToken {
    ask(request.url)
    return FetchToken(cancel: { self.cancel() }, setPriority: { self.setPriority($0) })
  }

  private func ask(_ address: String) {
    var request = request
    request.url = address
    request.mirrors = []
    let (round, urgency) = state.withLock { ($0.failures.count, $0.priority) }
    request.priority = urgency
    let token = pipeline.load(request, on: queue) { [self] in take($0, from: address) }
    let (isCancelled, priority) = state.withLock { state in
      // The outcome may have been quicker than this, and the next address may have its token here.
      if state.failures.count == round { state.token = token }
      return (state.isCancelled, state.priority)
    }
    // A cancel, or another priority, that came before the token was known has reached nothing yet.
    if isCancelled { token.cancel() }
    if priority != urgency { token.setPriority(priority) }
  }

  private func take(_ outcome: Result<ThumbnailSet, FetchFailure>, from address: String) {
    switch outcome {
    case .success(var set):
      set.attempts += state.withLock { $0.failures.reduce(0) { $0 + $1.attempts } }
      if address != request.url { set.finalURL = set.finalURL ?? (try? SourceURL(address))?.description }
      completion(.success(set))
    case .failure(let failure):
      if let next = next(after: failure) { ask(next) } else { completion(.failure(verdict)) }
    }
  }

  private func next(after failure: FetchFailure) -> String? {
    state.withLock { state in
      state.token = nil
      state.failures.append(failure)
      return state.isCancelled ? nil : state.addresses.popFirst()
    }
  }

  /// A failure that stands for all: that of the cancel, one that is worth retrying, or the last one.
  private var verdict: FetchFailure {
    let (failures, isCancelled) = state.withLock { ($0.failures, $0.isCancelled) }
    var verdict = failures.first { $0.code.isRetryable } ?? failures.last ?? .cancelled
    if isCancelled { verdict = .cancelled }
    verdict.attempts = failures.reduce(0) { $0 + $1.attempts }
    return verdict
  }

  private func cancel() {
    let token = state.withLock { state in
      state.isCancelled = true
      return state.token
    }
    token?.cancel()
  }

  private func setPriority(_ priority: ThumbnailRequest.Priority) {
    let token = state.withLock { state in
      state.priority = priority
      return state.token
    }
    token?.setPriority(priority)
  }
}
