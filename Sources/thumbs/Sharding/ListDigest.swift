import CXXHash

/// A digest of all rows of a list, whatever their order: shards of different lists have different digests.
///
/// `Documentation/formats.md` has the rule. It never changes: several versions may fetch the shards of one list.
struct ListDigest: Hashable, Sendable {
  /// The sum of the hashes of the rows, modulo 2^64.
  private var sum: UInt64 = 0

  /// Adds a row: XXH64 with seed 0 of its index, a space, and its URL in UTF-8.
  mutating func add(_ entry: ManifestEntry) {
    let url = if case .row(let row) = entry { row.url } else { "" }
    var text = "\(entry.index) \(url)"
    sum &+= text.withUTF8 { xxh64($0.baseAddress, $0.count, 0) }
  }
}

extension ListDigest: CustomStringConvertible {
  /// 16 hexadecimal digits.
  var description: String {
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
