/// The end of a complete run over a shard: the last line of its report.
struct ShardEnd: Hashable, Sendable {
  let shard: Shard
  /// The rows of all shards.
  let list: ListTally

  /// The line, with a line feed.
  var json: [UInt8] {
    var text = JSONText(capacity: 128)
    text.object { text in
      text.member("complete", true)
      text.member("rows", list.rows)
      text.member("list", list.digest.description)
      text.member("shard", shard.description)
      text.member("by", shard.key.rawValue)
    }
    text.endLine()
    return text.bytes
  }
}
