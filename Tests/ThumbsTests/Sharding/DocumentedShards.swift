import Foundation

@testable import thumbs

/// The table of hashes in `Documentation/formats.md`, computed with `xxhsum -H1`.
enum DocumentedShards {
  struct Vector: Sendable {
    let key: ShardKey
    let index: Int
    let url: String
    let text: String
    let hash: UInt64
    let shardOfEight: Int
  }

  static let vectors: [Vector] = {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Documentation/formats.md")
    let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: [" ", "`"]) }
      guard cells.count == 6, let key = ShardKey(rawValue: cells[0]), let index = Int(cells[1]),
        let hash = UInt64(cells[4], radix: 16), let shard = Int(cells[5].prefix { $0 != "/" })
      else { return nil }
      return Vector(key: key, index: index, url: cells[2], text: cells[3], hash: hash, shardOfEight: shard)
    }
  }()
}
