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

/// The end of a complete run over a shard: the last line of its report.
struct ShardEnd: Hashable, Sendable {
  let shard: Shard
  /// The number of rows in all shards.
  let rows: Int

  /// The line, with a line feed.
  var json: [UInt8] {
    var text = JSONText(capacity: 128)
    text.object { text in
      text.member("complete", true)
      text.member("rows", rows)
      text.member("shard", shard.description)
      text.member("by", shard.key.rawValue)
    }
    text.endLine()
    return text.bytes
  }
}
