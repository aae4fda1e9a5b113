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
          // The next look must not find it again: its ports are gone by then.
          state.open.remove(socket)
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

/// Finds connections on which a server sends much that is no part of any response, such as endless `WINDOW_UPDATE` or
/// empty `DATA` frames of HTTP/2. libcurl has no limit for them, and while it reads them, all other transfers wait.
///
/// While libcurl does not return from a call, ``FloodGuard`` watches.
///
/// A plain value: its owner reads the counters, and ends the transfers of the connections found.
struct FloodWatch {
  /// The counters of a connection since it was opened, in bytes.
  struct Reading: Hashable {
    /// The bytes that libcurl has read from the socket.
    let read: Int
    /// The bytes of responses that it has passed on, after decoding.
    let delivered: Int

    /// Returns true if much more was read than delivered since `first`, a reading of the same connection.
    func isFlood(since first: Self) -> Bool {
      read - first.read > FloodWatch.allowance + (delivered - first.delivered) * FloodWatch.ratio
    }
  }

  /// By the ports of the connection.
  private var readings: [Int: Reading] = [:]
  private var next: ContinuousClock.Instant?

  /// The time between two looks at the counters.
  static let interval = Duration.milliseconds(100)
  /// The bytes that a connection may have in an interval besides responses: handshakes, frame headers, and what libcurl
  /// has read but not decoded yet.
  static let allowance = 1 << 20
  /// The bytes read for one byte delivered, beyond the allowance. A chunked body in pieces of one byte has 6.
  static let ratio = 8

  /// Returns true at most once in an interval: the counters are to be looked at.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    if let next, now < next { return false }
    next = now + Self.interval
    return true
  }

  /// Takes the counters of all connections in use, and returns those that were flooded since the last time.
  mutating func floods(in current: [Int: Reading]) -> [Int] {
    defer { readings = current }
    return current.compactMap { connection, reading in
      // Smaller counters are those of another connection with the same ports.
      guard let last = readings[connection], last.read <= reading.read, last.delivered <= reading.delivered else {
        return nil
      }
      return reading.isFlood(since: last) ? connection : nil
    }
  }
}
