import Synchronization

/// Values in memory, bounded by what they cost, for any number of threads.
///
/// Hits are synchronous and allocate nothing. The policy is S3-FIFO. A value's release may run code of its own, so
/// evicted values are let go outside the lock. A large cache is several, each with its share of the limit and a lock
/// of its own, so that threads seldom meet.
public final class MemoryCache<Key: ScatteredKey, Value: Sendable>: Sendable {
  /// In place: a hit goes through no further object. A small cache uses the first one alone.
  private let shards: [4 of Mutex<S3FIFO<Key, Value>>]
  /// The bits of a key that choose its shard.
  private let shardBits: UInt64

  /// An empty cache whose values may cost `costLimit` together, usually bytes.
  public init(costLimit: Int) {
    let limit = max(0, costLimit)
    // A share must have room for the largest values, an eighth of the whole.
    let count = limit >= 4 << 20 ? 4 : 1
    shardBits = UInt64(count - 1)
    shards = InlineArray { _ in Mutex(S3FIFO(costLimit: limit / count, largestCost: limit / 8)) }
  }

  /// The value of `key`.
  public func value(for key: Key) -> Value? {
    shards[shard(of: key)].withLock { $0.value(for: key) }
  }

  /// Stores `value` in the place of an older one.
  ///
  /// - Parameters:
  ///   - value: What is kept until its place is needed.
  ///   - key: Under which it is found.
  ///   - cost: What the value keeps alive, at least 1. Above an eighth of the limit nothing is stored, and an older
  ///     value goes all the same.
  /// - Returns: Whether it was stored.
  @discardableResult
  public func insert(_ value: Value, for key: Key, cost: Int) -> Bool {
    var evicted: [Value] = []
    return shards[shard(of: key)].withLock {
      $0.insert(value, for: key, cost: max(1, cost), evicted: &evicted) != .refused
    }
  }

  /// Forgets the value of `key`.
  public func remove(_ key: Key) {
    // Bound to a name, so that the value's last reference outlives the lock.
    let removed = shards[shard(of: key)].withLock { $0.remove(key) }
    _ = removed
  }

  /// Forgets every value.
  public func removeAll() {
    for shard in shards.indices {
      // Bound to a name, so that the values' last references outlive the lock.
      let removed = shards[shard].withLock { cache in
        defer { cache = S3FIFO(costLimit: cache.costLimit, largestCost: cache.largestCost) }
        return cache
      }
      _ = removed
    }
  }

  /// The number of values and the sum of their costs.
  public var usage: (count: Int, cost: Int) {
    shards.indices.reduce((0, 0)) { sum, shard in
      shards[shard].withLock { (sum.0 + $0.count, sum.1 + $0.cost) }
    }
  }

  private func shard(of key: Key) -> Int { Int(key.scatteredBits & shardBits) }
}
