internal import Foundation
internal import Synchronization

/// The requests of one kind to the server of a remote cache: at most a few at once, those with the highest priority
/// first, and none while the breaker is open.
///
/// Reads and writes have separate lanes, because a server may be full, or not allow writes, and still be read.
final class RemoteLane: Sendable {
  private struct State {
    var running = 0
    var waiting = PriorityLine<RemoteExchange>()
    var breaker = RemoteBreaker()
  }

  private enum Turn {
    case start(RemoteExchange, RemoteBreaker.Permit)
    case refuse(RemoteExchange)
  }

  private let width: Int
  private let transport: any Transport
  private let now: @Sendable () -> Duration
  private let state = Mutex(State())
  /// Interprets responses, which the thread of the transport must not do.
  private let queue = DispatchQueue(label: "thumbs.remote", attributes: .concurrent)

  /// - Parameters:
  ///   - width: The maximum number of requests at once.
  ///   - transport: Exchanges requests and responses.
  ///   - now: The time of the breaker.
  init(width: Int, transport: any Transport, now: @escaping @Sendable () -> Duration) {
    (self.width, self.transport, self.now) = (width, transport, now)
  }

  /// Adds an exchange. Returns a handle that can cancel it and change its priority. Its end is delivered exactly once,
  /// on a queue of the lane.
  func add(_ exchange: RemoteExchange) -> WorkHandle {
    exchange.slot.run { demand in
      let place = state.withLock { $0.waiting.append(exchange, demand.priority) }
      return WorkHandle { [self] in
        if let removed = state.withLock({ $0.waiting.remove(place) }) { refuse(removed, .cancelled) }
      } setPriority: { [self] priority in
        state.withLock { $0.waiting.change(place, to: priority) }
      }
    }
    advance()
    return WorkHandle {
      exchange.slot.cancel()
    } setPriority: {
      exchange.slot.setPriority($0)
    }
  }

  private func advance() {
    while let turn = nextTurn() {
      switch turn {
      case .start(let exchange, let permit): start(exchange, permit)
      case .refuse(let exchange): refuse(exchange, .skippedByBreaker)
      }
    }
  }

  private func nextTurn() -> Turn? {
    let now = now()
    return state.withLock { state in
      guard state.running < width, let exchange = state.waiting.popFirst() else { return nil }
      guard let permit = state.breaker.permit(at: now) else { return .refuse(exchange) }
      state.running += 1
      return .start(exchange, permit)
    }
  }

  private func refuse(_ exchange: RemoteExchange, _ failure: FetchFailure) {
    exchange.slot.end()
    queue.async { exchange.ending(.failure(failure)).deliver() }
  }

  private func start(_ exchange: RemoteExchange, _ permit: RemoteBreaker.Permit) {
    let begin = now()
    exchange.start(over: transport) { [self] result in
      let end = now()
      queue.async { [self] in
        let ending = exchange.ending(result, after: end - begin)
        state.withLock { state in
          state.running -= 1
          state.breaker.ended(permit, ending.verdict, at: end)
        }
        advance()
        ending.deliver()
      }
    }
  }
}

extension FetchFailure {
  /// The failure of a request that the breaker did not let through.
  static let skippedByBreaker = FetchFailure(.hostUnavailable, "Earlier requests to the remote cache failed.")
}
