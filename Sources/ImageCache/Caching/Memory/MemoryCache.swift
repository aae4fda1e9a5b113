import Synchronization

/// A thread-safe memory cache bounded by the cost of its values. A full cache keeps those that are used again and
/// again, and declines others.
///
/// Hits are synchronous and allocate nothing. Releasing a value may run arbitrary code, so evicted values are released
/// outside the lock. A large cache is split into shards, each with its own lock and share of the limit, so that threads
/// seldom contend.
public final class MemoryCache<Key: ScatteredKey, Value: Sendable>: Sendable {
  /// Stored inline, so that a hit needs no extra indirection. A small cache uses only the first shard.
  private let shards: [4 of Mutex<ReuseCache<Key, Value>>]
  /// The mask for the bits of a key that select its shard.
  private let shardBits: UInt64
  /// Receives the number of values that an insertion has evicted.
  private let onEviction: @Sendable (Int) -> Void

  /// Creates an empty cache. `costLimit` bounds the total cost of its values, usually in bytes.
  public convenience init(costLimit: Int) {
    self.init(costLimit: costLimit) { _ in }
  }

  /// - Parameter onEviction: Receives the number of values that an insertion has evicted, outside the lock.
  init(costLimit: Int, onEviction: @escaping @Sendable (Int) -> Void) {
    self.onEviction = onEviction
    let limit = max(0, costLimit)
    // Each share must have room for the largest values, which may cost an eighth of the whole.
    let count = limit >= 4 << 20 ? 4 : 1
    shardBits = UInt64(count - 1)
    shards = InlineArray { _ in Mutex(ReuseCache(costLimit: limit / count, largestCost: limit / 8)) }
  }

  /// Returns the value of `key`; nil if there is none.
  public func value(for key: Key) -> Value? {
    shards[shard(of: key)].withLock { $0.value(for: key) }
  }

  /// Stores `value` and replaces an older value.
  ///
  /// - Parameters:
  ///   - value: The value to keep until it is evicted.
  ///   - key: The key of the value.
  ///   - cost: The cost of the value, at least 1. Above an eighth of the limit the value is not stored, but an older
  ///     one is removed all the same.
  /// - Returns: True if the value was stored: it is small enough, and the cache is not full of others that are more
  ///   likely to be used again.
  @discardableResult
  public func insert(_ value: Value, for key: Key, cost: Int) -> Bool {
    var evicted: [Value] = []
    let insertion = shards[shard(of: key)].withLock {
      $0.insert(value, for: key, cost: max(1, cost), evicted: &evicted)
    }
    // The replaced or declined value does not count. A refused value may have replaced none.
    let count = insertion == .inserted ? evicted.count : evicted.count - 1
    if count > 0 { onEviction(count) }
    return insertion == .inserted || insertion == .replaced
  }

  /// Removes the value of `key`.
  public func remove(_ key: Key) {
    // The name keeps the last reference to the value until after the lock is released.
    let removed = shards[shard(of: key)].withLock { $0.remove(key) }
    _ = removed
  }

  /// Removes all values.
  public func removeAll() {
    for shard in shards.indices {
      // The name keeps the last references to the values until after the lock is released.
      let removed = shards[shard].withLock { cache in
        defer { cache = ReuseCache(costLimit: cache.costLimit, largestCost: cache.largestCost) }
        return cache
      }
      _ = removed
    }
  }

  /// The number of values and their total cost.
  public var usage: (count: Int, cost: Int) {
    shards.indices.reduce((0, 0)) { sum, shard in
      shards[shard].withLock { (sum.0 + $0.count, sum.1 + $0.cost) }
    }
  }

  private func shard(of key: Key) -> Int { Int(key.scatteredBits & shardBits) }
}

/// The downloaded files in the memory tier, bounded in bytes.
struct MemoryOriginals: Sendable {
  private struct Original: Sendable {
    let digest: BodyDigest
    let bytes: [UInt8]
  }

  /// Nil if nothing is kept.
  private let files: MemoryCache<SourceKey, Original>?

  /// - Parameter byteLimit: The most bytes of all files; none are kept if it is 0 or less.
  init(byteLimit: Int) { files = byteLimit > 0 ? MemoryCache(costLimit: byteLimit) : nil }

  /// Stores the file of `source`, and removes an older one that is not the file of `source`. A response that must not
  /// be stored leaves no file behind (RFC 9111, section 5.2.2.5).
  ///
  /// - Parameter bytes: The whole file; empty if it is not at hand. Then an unchanged file stays.
  func store(_ bytes: [UInt8], of source: StoredSource, for key: SourceKey) {
    guard let files else { return }
    guard source.policy.isStorable, let digest = source.digest else { return files.remove(key) }
    if !bytes.isEmpty {
      files.insert(Original(digest: digest, bytes: bytes), for: key, cost: bytes.capacity + 256)
    } else if let held = files.value(for: key), held.digest != digest {
      files.remove(key)
    }
  }

  /// Returns the file of `source`; empty if it was not kept, or has changed.
  func bytes(of source: StoredSource, for key: SourceKey) -> [UInt8] {
    guard let held = files?.value(for: key), held.digest == source.digest else { return [] }
    return held.bytes
  }

  /// Removes the file of `key`.
  func remove(_ key: SourceKey) { files?.remove(key) }

  /// Removes all files.
  func removeAll() { files?.removeAll() }

  /// The number of files and their total size in bytes.
  var usage: (count: Int, cost: Int) { files?.usage ?? (0, 0) }
}

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
