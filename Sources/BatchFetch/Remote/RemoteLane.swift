internal import Foundation
internal import Synchronization

/// The requests of one kind to the server of a remote cache: at most a few at once, those with the highest priority
/// first, and none while the breaker is open. One that has waited for too long is not sent any more.
///
/// Reads and writes have separate lanes, because a server may be full, or not allow writes, and still be read.
final class RemoteLane: Sendable {
  private struct Waiting: Sendable {
    let exchange: RemoteExchange
    let since: Duration
  }

  private struct State {
    var running = 0
    var waiting = PriorityLine<Waiting>()
    var breaker: RemoteBreaker
  }

  private enum Turn {
    case start(RemoteExchange, RemoteBreaker.Permit)
    case refuse(RemoteExchange)
  }

  /// The maximum size of the bodies that are read at once, in bytes: two of the largest objects.
  private static let maxBytes = 16 << 20

  private let width: Int
  /// The time after which a request is not sent any more.
  private let patience: Duration
  private let transport: any Transport
  private let now: @Sendable () -> Duration
  private let state: Mutex<State>
  private let room = RemoteRoom(limit: maxBytes)
  /// Interprets responses, which the thread of the transport must not do.
  private let queue = DispatchQueue(label: "thumbs.remote", attributes: .concurrent)

  /// - Parameters:
  ///   - width: The maximum number of requests at once.
  ///   - timeout: The maximum duration of a request. Half of it may be spent with waiting for other requests, and all
  ///     of it is the budget of the breaker.
  ///   - transport: Exchanges requests and responses.
  ///   - now: The time of the breaker.
  init(width: Int, timeout: Duration, transport: any Transport, now: @escaping @Sendable () -> Duration) {
    (self.width, self.transport, self.now) = (width, transport, now)
    patience = timeout / 2
    state = Mutex(State(breaker: RemoteBreaker(budget: timeout)))
  }

  /// The time that lookups have cost the run. See ``RemoteBreaker/lost``.
  var lost: Duration { state.withLock { $0.breaker.lost } }

  /// See ``RemoteBreaker/uploadTime(within:)``.
  func uploadTime(within limit: Duration) -> Duration { state.withLock { $0.breaker.uploadTime(within: limit) } }

  /// Records the end of a lookup. See ``RemoteBreaker/looked(for:isHit:among:at:)``.
  func looked(for duration: Duration, isHit: Bool, among images: Int) {
    let now = now()
    state.withLock { $0.breaker.looked(for: duration, isHit: isHit, among: images, at: now) }
    advance()
  }

  /// Adds an exchange. Returns a handle that can cancel it and change its priority. Its end is delivered exactly once,
  /// on a queue of the lane.
  func add(_ exchange: RemoteExchange) -> WorkHandle {
    let waiting = Waiting(exchange: exchange, since: now())
    exchange.slot.run { demand in
      let place = state.withLock { $0.waiting.append(waiting, demand.priority) }
      return WorkHandle { [self] in
        if let removed = state.withLock({ $0.waiting.remove(place) }) { refuse(removed.exchange, .cancelled) }
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
      case .refuse(let exchange): refuse(exchange, .remoteCacheSkipped)
      }
    }
  }

  private func nextTurn() -> Turn? {
    let now = now()
    return state.withLock { state in
      guard state.running < width || state.breaker.refuses(at: now), let next = state.waiting.popFirst() else {
        return nil
      }
      guard now - next.since <= patience, let permit = state.breaker.permit(at: now) else {
        return .refuse(next.exchange)
      }
      state.running += 1
      return .start(next.exchange, permit)
    }
  }

  private func refuse(_ exchange: RemoteExchange, _ failure: FetchFailure) {
    exchange.slot.end()
    queue.async { exchange.ending(.failure(failure)).deliver() }
  }

  private func start(_ exchange: RemoteExchange, _ permit: RemoteBreaker.Permit) {
    let begin = now()
    exchange.start(over: transport, in: room) { [self] result in
      let end = now()
      queue.async { [self] in
        let ending = exchange.ending(result, after: end - begin)
        exchange.leaveRoom()
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
  /// The failure of a request that was not sent, or given up, because of other requests.
  static let remoteCacheSkipped = FetchFailure(.hostUnavailable, "The remote cache failed, or was too busy.")
}
