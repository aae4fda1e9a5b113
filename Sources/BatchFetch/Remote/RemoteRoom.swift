internal import Synchronization

/// The memory for responses that are being received. They share it, because each alone may be large.
final class RemoteRoom: Sendable {
  private let limit: Int
  private let used = Mutex(0)

  /// - Parameter limit: The maximum number of bytes.
  init(limit: Int) { self.limit = limit }

  /// Takes `count` bytes. Returns false if there are not as many left.
  func take(_ count: Int) -> Bool {
    used.withLock { used in
      guard count <= limit - used else { return false }
      used += count
      return true
    }
  }

  /// Gives `count` bytes back.
  func give(_ count: Int) { used.withLock { $0 -= count } }
}
