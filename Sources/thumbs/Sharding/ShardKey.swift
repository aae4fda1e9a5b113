import ArgumentParser
import BatchFetch
import CXXHash

/// The property of a row that decides about its shard. The raw values are those of `--shard-by`.
///
/// `Documentation/formats.md` has the rules. They never change: several versions may fetch the shards of one list.
enum ShardKey: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The host of the URL, with its port unless that is the default. Keeps the limits per host.
  case host
  /// The URL in canonical form.
  case url
  /// The index of the row.
  case row

  /// Returns the hash of the key of `entry`: XXH64 with seed 0 of its UTF-8 bytes.
  func hash(of entry: ManifestEntry) -> UInt64 {
    var text = text(of: entry)
    return text.withUTF8 { xxh64($0.baseAddress, $0.count, 0) }
  }

  /// Returns the key of `entry`. A row without a host has its URL instead, and a row without a URL its index.
  func text(of entry: ManifestEntry) -> String {
    guard self != .row, case .row(let row) = entry else { return String(entry.index) }
    guard let source = try? SourceURL(row.url) else { return row.url }
    return self == .host && !source.host.isEmpty ? source.host : source.description
  }
}
