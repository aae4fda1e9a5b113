import Synchronization

/// Values in memory, bounded by what they cost, for any number of threads.
///
/// Hits are synchronous and allocate nothing. The policy is ``S3FIFO``. A value's release may run code of its own, so
/// evicted values are let go outside the lock.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let policy: Mutex<S3FIFO<Key, Value>>

  /// An empty cache whose values may cost `costLimit` together, usually bytes.
  public init(costLimit: Int) {
    policy = Mutex(S3FIFO(costLimit: max(0, costLimit)))
  }

  /// The value of `key`.
  public func value(for key: Key) -> Value? {
    policy.withLock { $0.value(for: key) }
  }

  /// Stores `value` in the place of an older one.
  ///
  /// - Parameter cost: What the value keeps alive, at least 1. Above an eighth of the limit nothing is stored, and an
  ///   older value goes all the same.
  /// - Returns: Whether it was stored.
  @discardableResult
  public func insert(_ value: Value, for key: Key, cost: Int) -> Bool {
    var evicted: [Value] = []
    return policy.withLock { $0.insert(value, for: key, cost: max(1, cost), evicted: &evicted) != .refused }
  }

  /// Forgets the value of `key`.
  public func remove(_ key: Key) {
    // Bound to a name, so that the value's last reference outlives the lock.
    let removed = policy.withLock { $0.remove(key) }
    _ = removed
  }

  /// The number of values and the sum of their costs.
  public var usage: (count: Int, cost: Int) {
    policy.withLock { ($0.count, $0.cost) }
  }
}
