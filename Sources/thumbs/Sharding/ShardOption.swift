import ArgumentParser

/// A value of `--shard`.
enum ShardOption: Hashable, Sendable {
  /// `3/8`: the number of the shard, from 1, and the number of shards.
  case numbered(Int, of: Int)
  /// `auto`: as the environment says.
  case automatic

  /// Parses `3/8` or `auto`.
  init(_ text: String) throws {
    guard text != "auto" else {
      self = .automatic
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = try? Count.positive(String(parts[0])),
      let count = try? Count.positive(String(parts[1])), number <= count
    else { throw ValidationError("give auto, or the number of the shard and the number of shards, from 1/8 to 8/8") }
    self = .numbered(number, of: count)
  }

  /// Returns the shard. `auto` takes the variables of a scheduler from `environment`.
  func shard(by key: ShardKey, environment: [String: String]) throws -> Shard {
    switch self {
    case .numbered(let number, let count): return Shard(number: number, count: count, key: key)
    case .automatic:
      let (number, count) = try ShardVariables(environment).place
      return Shard(number: number, count: count, key: key)
    }
  }
}
