import Synchronization

/// Values in memory, bounded by what they cost, for any number of threads.
///
/// Hits are synchronous and allocate nothing. The policy is ``S3FIFO``. A value's release may run code of its own, so
/// evicted values are let go outside the lock. A large cache is several, each with its share of the limit and a lock
/// of its own, so that threads seldom meet.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private final class Shard: Sendable {
    let policy: Mutex<S3FIFO<Key, Value>>

    init(costLimit: Int, largestCost: Int) {
      policy = Mutex(S3FIFO(costLimit: costLimit, largestCost: largestCost))
    }
  }

  /// A power of two of them.
  private let shards: [Shard]

  /// An empty cache whose values may cost `costLimit` together, usually bytes.
  public init(costLimit: Int) {
    let limit = max(0, costLimit)
    // A share must have room for the largest values, an eighth of the whole.
    let count = limit >= 4 << 20 ? 4 : 1
    shards = (0..<count).map { _ in Shard(costLimit: limit / count, largestCost: limit / 8) }
  }

  /// The value of `key`.
  public func value(for key: Key) -> Value? {
    shard(of: key).policy.withLock { $0.value(for: key) }
  }

  /// Stores `value` in the place of an older one.
  ///
  /// - Parameter cost: What the value keeps alive, at least 1. Above an eighth of the limit nothing is stored, and an
  ///   older value goes all the same.
  /// - Returns: Whether it was stored.
  @discardableResult
  public func insert(_ value: Value, for key: Key, cost: Int) -> Bool {
    var evicted: [Value] = []
    return shard(of: key).policy.withLock {
      $0.insert(value, for: key, cost: max(1, cost), evicted: &evicted) != .refused
    }
  }

  /// Forgets the value of `key`.
  public func remove(_ key: Key) {
    // Bound to a name, so that the value's last reference outlives the lock.
    let removed = shard(of: key).policy.withLock { $0.remove(key) }
    _ = removed
  }

  /// The number of values and the sum of their costs.
  public var usage: (count: Int, cost: Int) {
    shards.reduce((0, 0)) { sum, shard in
      shard.policy.withLock { (sum.0 + $0.count, sum.1 + $0.cost) }
    }
  }

  private func shard(of key: Key) -> Shard { shards[key.hashValue & (shards.count - 1)] }
}
