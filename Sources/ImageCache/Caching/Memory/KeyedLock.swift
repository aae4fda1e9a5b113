import Synchronization

/// A lock per key. Keys share a few locks, so that threads with different keys seldom wait for each other.
final class KeyedLock: Sendable {
  private let locks: [16 of Mutex<Void>]

  init() { locks = InlineArray { _ in Mutex(()) } }

  /// Runs `body` while no other thread runs one for the same key. `body` must not lock another key.
  func withLock<Result: ~Copyable>(
    for key: some ScatteredKey, _ body: () throws -> Result
  ) rethrows -> Result {
    try locks[Int(key.scatteredBits & 15)].withLock { _ in try body() }
  }
}
