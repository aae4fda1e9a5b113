/// One of several parts of the rows, each fetched by a separate run.
struct Shard: Hashable, Sendable {
  /// The number of this shard, from 1.
  let number: Int
  /// The number of all shards.
  let count: Int
  /// The property of a row that decides about its shard.
  let key: ShardKey

  /// Returns true if `entry` belongs to this shard. Every entry belongs to exactly one.
  func contains(_ entry: ManifestEntry) -> Bool {
    count == 1 || key.hash(of: entry) % UInt64(count) == UInt64(number - 1)
  }
}

extension Shard: CustomStringConvertible {
  /// The shard as on the command line: `3/8`.
  var description: String { "\(number)/\(count)" }
}
