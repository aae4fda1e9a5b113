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
