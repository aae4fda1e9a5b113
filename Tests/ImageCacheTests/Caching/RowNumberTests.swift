import Testing

@testable import ImageCache

@Suite("The places of rows")
struct RowNumberTests {
  private typealias Fixtures = CacheFixtures

  /// Keys with the same first 48 bits.
  private static let keys = [(0, 0), (0, 9), (0xff, 0), (0x80, 0xff)].compactMap { low, last in
    SourceKey(bytes: [0xfe, 1, 2, 3, 4, 6] + [UInt8(low)] + [UInt8](repeating: 0, count: 8) + [UInt8(last)])
  }

  @Test func `The rows of a source lie side by side, and apart from those of others`() {
    let specs = SpecNames()
    for number in 0..<200 {
      let key = Fixtures.key(number)
      let (source, original) = (RowNumber.source(key), RowNumber.original(of: key))
      let thumbnails = (1..<100).map { RowNumber.thumbnail(specs.name(of: ThumbnailSpec(width: $0)), of: key) }

      #expect(RowNumber.kind(of: source) == .source && RowNumber.kind(of: original) == .original)
      #expect(thumbnails.allSatisfy { RowNumber.kind(of: $0) == .thumbnail })
      #expect((thumbnails + [original]).allSatisfy { RowNumber.source(of: $0) == source })
      #expect(thumbnails.allSatisfy { source < $0 && $0 < original })
      #expect(RowNumber.all(of: key).lowerBound == source && RowNumber.all(of: key).upperBound == original)
    }
  }

  @Test func `Rows are in the order of keys`() {
    let keys = (0..<500).map(Fixtures.key)
    let byKey = keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }

    #expect(byKey == keys.sorted { RowNumber.source($0) < RowNumber.source($1) })
  }

  @Test func `Of two sources in the same place the later one is kept, and the earlier one is missing`() throws {
    let directory = try CachePlace()
    let cache = ThumbnailCache(diskAt: directory.path)
    for (number, key) in Self.keys.enumerated() {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: key)
      cache.flush()
    }
    let found = Self.keys.enumerated().map { number, key in
      cache.entry(for: key, url: Fixtures.url(number), specs: [Fixtures.spec])?.thumbnails[Fixtures.spec]
    }
    let places = Set(Self.keys.map { RowNumber.source($0) })

    #expect(Self.keys.count == 4 && places.count == 1)
    #expect(found == [nil, nil, nil, Fixtures.thumbnail(3)])
    #expect(try CacheInspector(directory: directory.path).verify(.full) { _ in }.problems == 0)
  }
}
