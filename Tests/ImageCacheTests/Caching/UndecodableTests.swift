import Foundation
import GRDB
import Testing

@testable import ImageCache

@Suite("Undecodable bytes remembered by their digest")
struct UndecodableTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private let digest = BodyDigest(of: [1, 2, 3])
  private let error = ImageError(.decodeError, "The file is damaged.")

  init() throws { directory = try CachePlace() }

  private func store(_ number: Int, digest: BodyDigest?, in cache: ThumbnailCache) {
    let source = StoredSource(
      url: Fixtures.url(number), status: 200, policy: Fixtures.policy(),
      content: .failure(code: error.code.rawValue, message: error.message, digest: digest))
    cache.store(source, thumbnails: [], for: Fixtures.key(number))
  }

  private func change(_ sql: String) throws {
    try DatabaseQueue.patient(directory.path + "/g000001/cache.db").write { try $0.execute(sql: sql) }
  }

  @Test func `Undecodable bytes are known at once, and also to the next cache in the directory`() {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(1, digest: digest, in: cache)
    #expect(cache.imageError(of: digest) == error)

    cache.flush()
    let next = ThumbnailCache(diskAt: directory.path)

    #expect(next.imageError(of: digest) == error)
    #expect(next.imageError(of: BodyDigest(of: [1, 2])) == nil)
    #expect(next.counters.errors.isEmpty)
  }

  @Test func `Undecodable bytes are known as long as one of their sources is stored, fresh or not`() {
    let cache = ThumbnailCache(diskAt: directory.path)
    for number in 1...2 { store(number, digest: digest, in: cache) }
    cache.flush()
    cache.remove(Fixtures.key(1))
    cache.flush()
    let later = ThumbnailCache(diskAt: directory.path, now: { Fixtures.start + 1_000_000 })

    #expect(later.imageError(of: digest) == error)

    later.remove(Fixtures.key(2))
    later.flush()

    #expect(later.imageError(of: digest) == nil)
  }

  @Test func `A failure without a digest does not condemn any bytes`() {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(1, digest: nil, in: cache)
    cache.flush()

    #expect(cache.imageError(of: digest) == nil)
  }

  @Test(arguments: [
    "UPDATE source SET renderer = renderer - 1", "UPDATE source SET failure_message = 'Fine.'",
    "UPDATE source SET failure_code = 'http_404'", "UPDATE source SET key = zeroblob(16)",
  ])
  func `An outdated or damaged failure does not condemn any bytes`(sql: String) throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(1, digest: digest, in: cache)
    cache.flush()
    try change(sql)

    #expect(ThumbnailCache(diskAt: directory.path).imageError(of: digest) == nil)
  }

  @Test func `The lookup of undecodable bytes uses only an index`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(1, digest: digest, in: cache)
    cache.flush()
    let plan = try DatabaseQueue.patient(directory.path + "/g000001/cache.db").read {
      try Row.fetchAll($0, sql: "EXPLAIN QUERY PLAN " + DiskReader.undecodable, arguments: [Data(), 1])
    }

    #expect(plan.compactMap { $0["detail"] as String? } == ["SEARCH source USING INDEX source_undecodable (digest=?)"])
  }
}
