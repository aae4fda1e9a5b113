import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import thumbs

@Suite struct `Searches for duplicates` {
  private static func row(
    _ index: Int, hash: UInt64?, digest: UInt8? = nil, size: PixelSize = PixelSize(width: 4, height: 4), bytes: Int = 1
  ) -> ReportRow {
    let source =
      #""source":{"width":\#(size.width),"height":\#(size.height),"bytes":\#(bytes)"#
      + (digest.map { #","sha256":"\#(BodyDigest(of: [$0]))""# } ?? "") + "}"
    let text =
      #"{"index":\#(index),"url":"http://h/\#(index)","status":"ok",\#(source)"#
      + (hash.map { #","phash":"\#(PerceptualHash(rawValue: $0))""# } ?? "") + "}"
    guard let value = try? JSONDocument.parse(Array(text.utf8)), let row = ReportRow(value) else {
      preconditionFailure("\(text) is no row.")
    }
    return row
  }

  private static func search(_ rows: [ReportRow]) -> DuplicateSearch {
    var search = DuplicateSearch()
    for row in rows { search.add(row) }
    return search
  }

  private static func groups(_ rows: [ReportRow], distance: Int = 6) -> [[Int]] {
    search(rows).groups(distance: distance).map { [$0.kept.index] + $0.others.map(\.index) }
  }

  /// Hashes of which many are near to others: some bits of earlier ones are flipped.
  private static func hashes(_ count: Int, seed: UInt64) -> [UInt64] {
    var (random, hashes) = (SeededGenerator(seed: seed), [UInt64]())
    while hashes.count < count {
      let isNear = Int.random(in: 0..<3, using: &random) > 0
      var hash = (isNear ? hashes.randomElement(using: &random) : nil) ?? UInt64.random(in: 0...(.max), using: &random)
      for _ in 0..<(isNear ? Int.random(in: 0...18, using: &random) : 0) {
        hash ^= 1 << UInt64.random(in: 0..<64, using: &random)
      }
      hashes.append(hash)
    }
    return hashes
  }

  @Test(arguments: [0, 1, 2, 3, 4, 6, 8, 12, 16], [2, 500])
  func `Every pair of near hashes is found, and no other`(distance: Int, count: Int) {
    let hashes = Self.hashes(count, seed: UInt64(distance * 1000 + count))
    var expected: Set<[Int]> = []
    for (one, hash) in hashes.enumerated() {
      for other in hashes.indices.dropFirst(one + 1) where (hash ^ hashes[other]).nonzeroBitCount <= distance {
        expected.insert([one, other])
      }
    }
    // The work for another number of hashes takes other pieces, with which the pairs must be the same.
    for assumed in [1, 1000, 100_000] where distance > 0 {
      var found: Set<[Int]> = []
      let pieces = HashPieces(count: assumed, distance: distance)
      pieces.forEachPair(of: hashes) { found.insert([min($0, $1), max($0, $1)]) }
      #expect(found == expected)
    }
  }

  @Test func `Rows that are linked by near hashes are a group, and the largest image is kept`() {
    let base: UInt64 = 0xAAAA_5555_F00F_3C3C
    let rows = [
      Self.row(0, hash: base), Self.row(1, hash: base ^ 0b111111, size: PixelSize(width: 9, height: 9)),
      Self.row(2, hash: base ^ 0b1111_1111_1111, bytes: 7), Self.row(3, hash: ~base),
      Self.row(4, hash: base ^ 0b1111_1111_1111_1111_1111),
    ]
    #expect(Self.groups(rows) == [[1, 2, 0]])
    #expect(Self.groups(rows, distance: 5).isEmpty && Self.groups(rows, distance: 8) == [[1, 2, 0, 4]])
  }

  @Test func `Images that look alike only because they are uniform are a group only if their files are equal`() {
    let rows = [
      Self.row(0, hash: 0, digest: 1), Self.row(1, hash: 0, digest: 2), Self.row(2, hash: 0, digest: 1),
      Self.row(3, hash: nil, digest: 3), Self.row(4, hash: nil, digest: 3), Self.row(5, hash: nil),
      Self.row(6, hash: 0x8080_8080_8080_8080), Self.row(7, hash: 0x8080_8080_8080_8081),
    ]
    #expect(Self.groups(rows, distance: 16) == [[0, 2], [3, 4]])
    #expect(Self.search(rows).unhashed == 3)
  }

  @Test func `The groups with the most rows come first, and rows without an image are left out`() throws {
    let (first, second): (UInt64, UInt64) = (0xAAAA_5555_F00F_3C3C, 0x1234_5678_9ABC_DEF0)
    var rows = [second, first, second, first, first].enumerated().map { Self.row($0, hash: $1) }
    let failed = #"{"index":9,"status":"failed","phash":"aaaa5555f00f3c3c"}"#
    rows.append(try #require(ReportRow(try JSONDocument.parse(Array(failed.utf8)))))

    #expect(Self.groups(rows, distance: 0) == [[1, 3, 4], [0, 2]])
    #expect(Self.groups([]).isEmpty && Self.groups(Array(rows.prefix(1))).isEmpty)
  }
}
