internal import Foundation
internal import Synchronization

/// A request whose picture is at several addresses: the next one is asked as soon as one has failed.
final class MirroredLoad: Sendable {
  private struct State {
    /// Addresses that were not tried, the next one first.
    var addresses: ArraySlice<String>
    /// What those that failed came to.
    var failures: [FetchFailure] = []
  }

  private let request: ThumbnailRequest
  private let pipeline: ThumbnailPipeline
  private let queue: DispatchQueue
  private let completion: ThumbnailPipeline.Completion
  private let relay: LoadRelay
  private let state: Mutex<State>

  init(
    _ request: ThumbnailRequest, over pipeline: ThumbnailPipeline, on queue: DispatchQueue,
    completion: @escaping ThumbnailPipeline.Completion
  ) {
    self.request = request
    self.pipeline = pipeline
    self.queue = queue
    self.completion = completion
    relay = LoadRelay(priority: request.priority)
    state = Mutex(State(addresses: request.mirrors[...]))
  }

  /// Asks the first address.
  func start() -> FetchToken {
    ask(request.url)
    return relay.token
  }

  private func ask(_ address: String) {
    relay.begin { priority, round in
      var request = request
      request.url = address
      request.mirrors = []
      request.priority = priority
      return pipeline.load(request, on: queue) { [self] outcome in
        relay.end(round)
        // After a cancel has returned, nobody is told of a success.
        take(relay.isCancelled ? .failure(.cancelled) : outcome, from: address)
      }
    }
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
    // Also by somebody who cancelled everything there is, and does not know of this.
    let isCancelled = relay.isCancelled || failure.code == .cancelled
    return state.withLock { state in
      state.failures.append(failure)
      return isCancelled ? nil : state.addresses.popFirst()
    }
  }

  /// A failure that stands for all: that of the cancel, one that is worth retrying, or the last one.
  private var verdict: FetchFailure {
    let failures = state.withLock { $0.failures }
    var verdict = failures.first { $0.code.isRetryable } ?? failures.last ?? .cancelled
    if relay.isCancelled || failures.last?.code == .cancelled { verdict = .cancelled }
    verdict.attempts = failures.reduce(0) { $0 + $1.attempts }
    return verdict
  }
}
