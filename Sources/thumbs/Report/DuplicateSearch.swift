import BatchFetch
import ImageCache

/// Finds the rows whose images are equal, or nearly so. A plain value.
///
/// Memory: 270 bytes per row with a URL of 50 characters, of which the search takes 50 if all hashes differ, and a
/// table of at most 32 MiB.
struct DuplicateSearch {
  /// A row with an image.
  struct Row: Hashable, Sendable {
    var index: Int
    var url: String?
    var image: ReportRow.Image
    /// The length of the file in bytes.
    var bytes: Int
  }

  /// Rows of one image, or of images that are linked by short distances.
  struct Group: Hashable, Sendable {
    /// The row with the largest image: the most pixels, then the most bytes, then the lowest index.
    var kept: Row
    /// The other rows, in the same order.
    var others: [Row]
  }

  /// The largest distance. Above, even unrelated images are linked.
  static let largestDistance = 16

  private(set) var rows: [Row] = []
  /// The number of rows without a hash.
  private(set) var unhashed = 0

  /// Adds a row, unless it has no image.
  mutating func add(_ row: ReportRow) {
    guard let image = row.image else { return }
    if image.hash == nil { unhashed += 1 }
    rows.append(Row(index: row.index, url: row.url, image: image, bytes: row.imageBytes))
  }

  /// Returns the groups of at least two rows, those with the most rows first. Two rows are linked if at most `distance`
  /// bits of their hashes differ. Images without a significant hash are linked only if their files are equal.
  func groups(distance: Int) -> [Group] {
    var sets = DisjointSets(count: rows.count)
    linkFiles(in: &sets)
    linkHashes(in: &sets, distance: distance)
    return sets.joined().map(group).sorted {
      ($1.others.count, $0.kept.index) < ($0.others.count, $1.kept.index)
    }
  }

  private func group(_ numbers: [Int]) -> Group {
    var sorted = numbers.map { rows[$0] }.sorted { first, second in
      let (one, other) = (first.image.size.area, second.image.size.area)
      return (other, second.bytes, first.index) < (one, first.bytes, second.index)
    }
    return Group(kept: sorted.removeFirst(), others: sorted)
  }

  /// Links the rows with equal files, of those that cannot be compared by their hashes.
  private func linkFiles(in sets: inout DisjointSets) {
    var first: [BodyDigest: Int] = [:]
    for (number, row) in rows.enumerated() where row.image.usableHash == nil {
      guard let digest = row.image.digest else { continue }
      if let known = first[digest] { sets.join(known, number) } else { first[digest] = number }
    }
  }

  private func linkHashes(in sets: inout DisjointSets, distance: Int) {
    var order: [(hash: UInt64, number: Int)] = []
    for (number, row) in rows.enumerated() {
      if let hash = row.image.usableHash { order.append((hash, number)) }
    }
    order.sort { ($0.hash, $0.number) < ($1.hash, $1.number) }
    var (hashes, numbers): ([UInt64], [Int]) = ([], [])
    for (hash, number) in order {
      if hash == hashes.last, let first = numbers.last {
        sets.join(first, number)
      } else {
        hashes.append(hash)
        numbers.append(number)
      }
    }
    order = []
    HashPieces(count: hashes.count, distance: distance).forEachPair(of: hashes) { sets.join(numbers[$0], numbers[$1]) }
  }
}

extension ReportRow.Image {
  /// The bits of the hash; nil unless it is significant.
  fileprivate var usableHash: UInt64? { hash.flatMap { $0.isSignificant ? $0.rawValue : nil } }
}

/// Sets of numbers that are joined step by step: a forest whose trees are flattened (union-find).
private struct DisjointSets {
  private var parents: [UInt32]

  init(count: Int) { parents = (0..<count).map { UInt32($0) } }

  mutating func join(_ first: Int, _ second: Int) {
    let (one, other) = (root(of: first), root(of: second))
    // The lower number becomes the root; flattening alone keeps the trees low.
    if one != other { parents[max(one, other)] = UInt32(min(one, other)) }
  }

  private mutating func root(of number: Int) -> Int {
    var number = number
    while parents[number] != number {
      parents[number] = parents[Int(parents[number])]
      number = Int(parents[number])
    }
    return number
  }

  /// Returns the members of each set of at least two numbers.
  mutating func joined() -> [[Int]] {
    var members: [Int: [Int]] = [:]
    for number in parents.indices where parents[number] != number {
      let root = root(of: number)
      members[root, default: [root]].append(number)
    }
    return Array(members.values)
  }
}

/// A search for pairs of hashes of which few bits differ, by pieces of their bits (multi-index hashing).
///
/// Of hashes that differ in at most `d` bits, cut into `m` pieces, one piece differs in at most `d / m` bits. So only
/// hashes with nearly equal pieces are compared. The number of pieces is the one that takes the fewest comparisons.
struct HashPieces: Hashable, Sendable {
  /// Some of the bits of a hash.
  private struct Piece: Hashable {
    var shift, bits: Int
    /// The most bits of the piece that may differ.
    var radius: Int
  }

  /// The most bits of a piece, which limits the memory of a table.
  private static let longestPiece = 22

  private let distance: Int
  private let pieces: [Piece]

  /// Chooses the pieces for `count` hashes and this distance, at least 0.
  init(count: Int, distance: Int) {
    self.distance = distance
    let choices = (3...17).map { Self.pieces($0, distance) }
    pieces = choices.min { Self.cost(of: $0, count) < Self.cost(of: $1, count) } ?? []
  }

  /// Cuts 64 bits into `count` pieces. Of the first ones, one more bit may differ than of the last ones: if more
  /// differed in all of them, it would be more than `distance` in all. Pieces that need not be searched are left out.
  private static func pieces(_ count: Int, _ distance: Int) -> [Piece] {
    var shift = 0
    return (0..<count).compactMap { number in
      let bits = 64 / count + (number < 64 % count ? 1 : 0)
      defer { shift += bits }
      let radius = distance / count - (number <= distance % count ? 0 : 1)
      return radius < 0 ? nil : Piece(shift: shift, bits: bits, radius: radius)
    }
  }

  /// Estimates the work: the entries of the tables, and the comparisons if the hashes are spread evenly.
  private static func cost(of pieces: [Piece], _ count: Int) -> Double {
    pieces.reduce(0) { cost, piece in
      let entries = Double(1 << piece.bits)
      let neighbors = (0...piece.radius).reduce(0) { $0 + choices($1, of: piece.bits) }
      let comparisons = Double(count) * Double(count) / entries + 4 * min(Double(count), entries)
      return cost + 2 * entries + neighbors * comparisons / 2
    }
  }

  /// The number of ways to choose `count` of `all`.
  private static func choices(_ count: Int, of all: Int) -> Double {
    (0..<count).reduce(1) { $0 * Double(all - $1) / Double($1 + 1) }
  }

  /// Calls `body` with the positions of both hashes of each pair whose distance is at most ``distance``. A pair may be
  /// repeated.
  func forEachPair(of hashes: [UInt64], _ body: (Int, Int) -> Void) {
    guard distance > 0, hashes.count > 1 else { return }
    for piece in pieces {
      let table = Table(hashes, shift: piece.shift, bits: piece.bits)
      table.forEachPair(flips: Self.flips(piece), distance: distance, body)
    }
  }

  /// Returns all numbers with the bits of a piece, of which at most `radius` are 1. The first one is 0.
  private static func flips(_ piece: Piece) -> [Int] {
    var (flips, last): ([Int], [Int]) = ([0], [0])
    for _ in 0..<piece.radius {
      last = last.flatMap { flip in
        let lowest = flip == 0 ? piece.bits : flip.trailingZeroBitCount
        return (0..<lowest).map { flip | 1 << $0 }
      }
      flips += last
    }
    return flips
  }

  /// Hashes in the order of one of their pieces.
  private struct Table {
    private let hashes: [UInt64]
    /// The positions of the hashes in their original order.
    private let positions: [UInt32]
    /// The end of the hashes with each value of the piece.
    private let ends: [UInt32]

    /// Sorts hashes by a piece of `bits` bits: counts each value, and then puts each hash in its place.
    init(_ hashes: [UInt64], shift: Int, bits: Int) {
      let value = { (hash: UInt64) in Int(truncatingIfNeeded: hash >> shift) & (1 << bits - 1) }
      var next = [UInt32](repeating: 0, count: 1 << bits + 1)
      for hash in hashes { next[value(hash) + 1] += 1 }
      for index in 1..<next.count { next[index] += next[index - 1] }
      var (sorted, positions) = (hashes, [UInt32](repeating: 0, count: hashes.count))
      for (position, hash) in hashes.enumerated() {
        let place = Int(next[value(hash)])
        (sorted[place], positions[place]) = (hash, UInt32(position))
        next[value(hash)] += 1
      }
      (self.hashes, self.positions, ends) = (sorted, positions, next)
    }

    /// The places of the hashes with this value.
    private func range(_ value: Int) -> Range<Int> {
      Int(value == 0 ? 0 : ends[value - 1])..<Int(ends[value])
    }

    /// Calls `body` with the pairs whose pieces differ by one of `flips`.
    func forEachPair(flips: [Int], distance: Int, _ body: (Int, Int) -> Void) {
      for value in 0..<ends.count - 1 {
        let first = range(value)
        if first.isEmpty { continue }
        // The pairs of two values are found at the lower one.
        for flip in flips where value ^ flip >= value {
          compare(first, range(value ^ flip), distance, body)
        }
      }
    }

    private func compare(_ first: Range<Int>, _ second: Range<Int>, _ distance: Int, _ body: (Int, Int) -> Void) {
      let span = hashes.span
      for one in first {
        let (hash, start) = (span[one], max(second.lowerBound, first == second ? one + 1 : 0))
        for other in start..<max(start, second.upperBound) where (hash ^ span[other]).nonzeroBitCount <= distance {
          body(Int(positions[one]), Int(positions[other]))
        }
      }
    }
  }
}
