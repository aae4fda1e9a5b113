import Foundation
import HTTPTypes
import Testing

@testable import ImageCache

@Suite("Sources with long header fields and URLs")
struct HeaderSizeTests {
  private typealias Fixtures = CacheFixtures

  private static func source(_ number: Int, fields: HTTPFields) -> StoredSource {
    let policy = CachePolicy(
      status: 200, fields: ResponseFields(fields), requestedAt: Fixtures.start.wholeSeconds,
      respondedAt: Fixtures.start.wholeSeconds)
    return Fixtures.source(number, policy: policy)
  }

  private static let long = "max-age=60, " + String(repeating: "x", count: 90_000)

  @Test(arguments: [HTTPField.Name.cacheControl, .vary, .expires])
  func `Long header fields count toward the limit of the memory tier`(name: HTTPField.Name) {
    let cache = ThumbnailCache(.init(memoryByteLimit: 4 << 20), logger: .silent)
    for number in 0..<300 {
      cache.store(
        Self.source(number, fields: [name: Self.long]), thumbnails: [Fixtures.thumbnail(number)],
        for: Fixtures.key(number))
    }

    #expect((20...46).contains(cache.memoryUsage.sources))
    #expect(cache.memoryUsage.bytes <= 4 << 20)
  }

  @Test func `Long URLs and messages count toward the limit of the memory tier`() {
    let cache = ThumbnailCache(.init(memoryByteLimit: 4 << 20), logger: .silent)
    for number in 0..<300 {
      var source = Fixtures.failure(number)
      source.finalURL = Self.long
      source.content = .failure(code: "http_404", message: Self.long)
      cache.store(source, thumbnails: [], for: Fixtures.key(number))
    }

    #expect((10...24).contains(cache.memoryUsage.sources))
  }

  @Test func `Long header fields count toward the limit of staged writes`() throws {
    let directory = try CachePlace()
    let monitor = CacheMonitor(logger: .silent)
    let cache = DiskCache(
      CacheDirectory(path: directory.path), byteLimit: 64 << 20, stagingLimit: 1 << 20, patience: .zero,
      monitor: monitor, now: { Fixtures.start })
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    try FileLock(creating: directory.path + "/lock").withLock { () throws(DiskCacheError) in
      for number in 0..<100 {
        cache.store(
          Self.source(number, fields: [.cacheControl: Self.long]), thumbnails: [], original: [],
          for: Fixtures.key(number))
      }
      cache.flush()
    }

    #expect((85...92).contains(monitor.snapshot.dropped))
  }

  @Test(arguments: [(1024, true), (1025, false), (90_000, false)])
  func `A validator above 1 KiB is dropped`(length: Int, isKept: Bool) {
    let tag = "\"" + String(repeating: "v", count: length - 2) + "\""
    let policy = Self.source(1, fields: [.eTag: tag, .lastModified: tag]).policy

    #expect((policy.conditionalFields.count == 2) == isKept)
    #expect(policy.conditionalFields.isEmpty == !isKept)
  }
}
