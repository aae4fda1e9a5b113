import CXXHash
import GRDB
import Synchronization

/// The places of rows in the table `item`. All rows of a source lie side by side: first the source itself, then its
/// thumbnails, then its original. One descent finds them.
///
/// The upper 48 bits of a number are those of the key, so that rows are ordered by key; the lower 15 bits differ among
/// the rows of a source. Two keys with the same 48 bits share their places: the later source replaces the earlier one,
/// which is then missing. The record of every row says what it is, so that this gives a miss, never a wrong image.
enum RowNumber {
  private static let tags = 1 << 15
  private static let original = tags - 2
  private static let verdict = tags - 1

  /// The row of a source.
  static func source(_ key: SourceKey) -> Int { place(key.high) }

  /// The row of a thumbnail. Two specs share a row for only one in 32,765 sources, because the key takes part.
  static func thumbnail(_ spec: SpecName, of key: SourceKey) -> Int {
    place(key.high) + 1 + Int((spec.hash ^ key.low) &* 0x9E37_79B9_7F4A_7C15 % UInt64(original - 1))
  }

  /// The row of the file that a source was made from.
  static func original(of key: SourceKey) -> Int { place(key.high) + original }

  /// The row that says that a file cannot be decoded.
  static func verdict(on digest: BodyDigest) -> Int { place(digest.words.x) + verdict }

  /// The rows of a source, its thumbnails and its original.
  static func all(of key: SourceKey) -> ClosedRange<Int> { source(key)...original(of: key) }

  /// The rows of the source in `row`, its thumbnails and its original.
  static func all(ofSourceIn row: Int) -> ClosedRange<Int> { row...row + original }

  /// The kind of a row.
  static func kind(of row: Int) -> RecordFrame.Kind {
    switch row & (tags - 1) {
    case 0: .source
    case original: .original
    case verdict: .verdict
    default: .thumbnail
    }
  }

  /// The row of the source to which the thumbnail or original in `row` belongs.
  static func source(of row: Int) -> Int { row & ~(tags - 1) }

  /// Conditions on the column `id` of `slot` for each kind of row.
  static let isSource = "id & \(tags - 1) = 0"
  static let isThumbnail = "id & \(tags - 1) BETWEEN 1 AND \(original - 1)"
  static let isOriginal = "id & \(tags - 1) = \(original)"

  /// The column `bytes` of `slot`, limited to 2^40. The sum of any number of damaged ones does not overflow.
  static let size = "max(0, min(bytes, 1099511627776))"
  static let isVerdict = "id & \(tags - 1) = \(verdict)"

  private static func place(_ bits: UInt64) -> Int { Int(bits >> 1) & ~(tags - 1) }
}

extension SourceKey {
  /// A key whose source is in `row`: the digits of the key that the row has, followed by zeros. It stands for a source
  /// whose record is lost.
  init(at row: Int) {
    high = UInt64(bitPattern: Int64(row)) << 1
    low = 0
  }
}

/// The name of a spec in the cache: its ``ThumbnailSpec/cacheText`` with a hash of it.
struct SpecName: Hashable, Sendable {
  let text: String
  let hash: UInt64

  init(_ spec: ThumbnailSpec) {
    var text = spec.cacheText
    hash = text.withUTF8 { xxh3_64($0.baseAddress, $0.count, 0) }
    self.text = text
  }
}

/// Remembers the names of the specs in use, because making a name costs as much as a lookup on disk.
final class SpecNames: Sendable {
  private static let limit = 256
  private let names = Mutex<[ThumbnailSpec: SpecName]>([:])

  /// Returns the name of `spec`.
  func name(of spec: ThumbnailSpec) -> SpecName {
    names.withLock { names in
      if let name = names[spec] { return name }
      if names.count == Self.limit { names = [:] }
      let name = SpecName(spec)
      names[spec] = name
      return name
    }
  }
}
