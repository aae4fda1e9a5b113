import Testing

@testable import ImageCache

/// The search for the highest quality whose file is short enough.
@Suite struct QualitySearchTests {
  /// Runs a search in which a file of quality q has `length(q)` bytes. Returns the length of the result and the
  /// qualities that were tried.
  private func search(
    from quality: Int, limit: Int, _ length: (Int) -> Int
  ) throws -> (result: Int, tried: [Int]) {
    var search = QualitySearch(ThumbnailSpec(width: 1, quality: quality, maxBytes: limit))
    var tried: [Int] = []
    while let quality = search.next {
      tried.append(quality)
      try search.take(EncodedFile(format: .jpeg, bytes: Array(repeating: 0, count: length(quality))))
    }
    return (try search.result().bytes.count, tried)
  }

  @Test(arguments: [1, 2, 3, 50, 82, 100]) func `The highest quality that fits is found`(quality: Int) throws {
    for limit in 10..<10 + quality {
      #expect(try search(from: quality, limit: limit) { 9 + $0 }.result == min(limit, 9 + quality), "limit \(limit)")
    }
  }

  @Test func `A file that fits is encoded once, and one that never fits twice`() throws {
    #expect(try search(from: 82, limit: 1000) { $0 }.tried == [82])
    #expect(try search(from: 82, limit: 40) { $0 }.tried.count <= 9)
    #expect(throws: ImageError.self) { try search(from: 82, limit: 10) { 10 + $0 } }
  }

  @Test func `A spec with a limit, a border or sharpening differs from one without, and all can be read back`() throws {
    let specs = [
      ThumbnailSpec(width: 10), ThumbnailSpec(width: 10, maxBytes: 20_000),
      ThumbnailSpec(width: 10, fit: .cover, gravity: .smart, maxBytes: 20_000),
      ThumbnailSpec(width: 10, trim: 0), ThumbnailSpec(width: 10, trim: 10), ThumbnailSpec(width: 10, sharpening: 33),
      ThumbnailSpec(width: 10, fit: .cover, gravity: .smart, maxBytes: 20_000, trim: 255, sharpening: 200),
      ThumbnailSpec(width: 10, frames: .all), ThumbnailSpec(width: 10, maxBytes: 9, trim: 1, frames: .all),
      ThumbnailSpec(width: 10, colors: .displayP3), ThumbnailSpec(width: 10, trim: 1, sharpening: 2, colors: .source),
    ]
    #expect(Set(specs).count == specs.count && Set(specs.map(\.fingerprint)).count == specs.count)
    for spec in specs {
      #expect(ThumbnailSpec(fingerprint: spec.fingerprint) == spec)
      #expect(ThumbnailSpec(cacheText: spec.cacheText) == spec)
    }
    for ending in ["-max0", "-trim256", "-trim-1", "-sharpen0", "-sharpen201", "-max9-trim9", "-trim9-trim9"] {
      #expect(ThumbnailSpec(fingerprint: specs[0].fingerprint + ending) == nil)
    }
  }
}
