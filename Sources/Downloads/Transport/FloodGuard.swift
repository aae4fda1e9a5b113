internal import CCurl
internal import Foundation
internal import Synchronization

/// Ends the connections whose floods keep libcurl within one call of `curl_multi_perform`. libcurl 7.88 reads on as
/// long as a socket has data, so a server that sends faster than libcurl reads would hold up all other transfers; and
/// no callback of libcurl runs in that time. ``FloodWatch`` finds the floods between two calls.
///
/// The event loop says when a call begins and ends. While there are calls, another thread looks at them in intervals.
final class FloodGuard: Sendable {
  typealias Readings = [curl_socket_t: FloodWatch.Reading]

  private struct State {
    /// The sockets that libcurl uses.
    var open: Set<curl_socket_t> = []
    /// The ports (`ccurl_ports`) of the connections that were ended.
    var flooded: Set<Int> = []
    /// The number of calls that have begun or ended. It is odd during a call.
    var call = 0
    /// The number at the last look, and the counters at the first look with that number.
    var seen: (call: Int, readings: Readings)?
    /// True if another look is due.
    var isWatched = false
  }

  private let state = Mutex(State())
  private let delivered = Atomic<Int>(0)
  private let later: Later

  /// Calls a function once, after ``FloodWatch/interval``.
  typealias Later = @Sendable (_ look: @escaping @Sendable () -> Void) -> Void

  /// - Parameter later: lets a test decide when the guard looks.
  init(later: @escaping Later = FloodGuard.afterInterval) { self.later = later }

  private static let queue = DispatchQueue(label: "thumbs.floods", target: .global())

  @Sendable private static func afterInterval(_ look: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + .milliseconds(FloodWatch.interval.milliseconds), execute: look)
  }

  /// Counts bytes of responses that libcurl has passed on.
  func note(delivered count: Int) { delivered.wrappingAdd(count, ordering: .relaxed) }

  /// Performs `body`, a call of libcurl that reads from sockets.
  func guarding(_ body: () -> Void) {
    let isWatched = state.withLock { state in
      state.call += 1
      defer { state.isWatched = true }
      return state.isWatched
    }
    if !isWatched { watch() }
    body()
    state.withLock { $0.call += 1 }
  }

  private func watch() {
    later { [weak self] in
      guard let self, look() else { return }
      watch()
    }
  }

  /// Ends the connections that were flooded within the current call, since the first look at it. Returns false if there
  /// was no call since the last look.
  private func look() -> Bool {
    state.withLock { state in
      let isWithinCall = state.call % 2 == 1
      if let seen = state.seen, seen.call == state.call {
        state.isWatched = isWithinCall
        for socket in isWithinCall ? floods(in: readings(of: state.open), since: seen.readings) : [] {
          state.flooded.insert(ccurl_ports(socket))
          shutdown(socket, Int32(SHUT_RDWR))
        }
      } else {
        state.seen = (state.call, isWithinCall ? readings(of: state.open) : [:])
      }
      return state.isWatched
    }
  }

  private func floods(in current: Readings, since first: Readings) -> [curl_socket_t] {
    current.filter { socket, reading in first[socket].map { reading.isFlood(since: $0) } ?? false }.map(\.key)
  }

  private func readings(of sockets: Set<curl_socket_t>) -> Readings {
    let delivered = delivered.load(ordering: .relaxed)
    let readings = sockets.map { ($0, FloodWatch.Reading(read: Int(ccurl_bytes_read($0)), delivered: delivered)) }
    return Readings(uniqueKeysWithValues: readings.filter { $1.read >= 0 })
  }

  // MARK: Sockets

  /// Records a new socket of libcurl.
  func add(_ socket: curl_socket_t) { state.withLock { _ = $0.open.insert(socket) } }

  /// Closes a socket of libcurl. The lock keeps ``look()`` from a descriptor that is another file by then.
  func closeSocket(_ socket: curl_socket_t) -> Int32 {
    state.withLock { state in
      state.open.remove(socket)
      return close(socket)
    }
  }

  /// Records that there is a new connection with these ports.
  func noteConnection(_ ports: Int) { state.withLock { _ = $0.flooded.remove(ports) } }

  /// Returns true if the connection with these ports was ended, because it was flooded.
  func hasEnded(_ ports: Int) -> Bool { state.withLock { $0.flooded.contains(ports) } }
}
