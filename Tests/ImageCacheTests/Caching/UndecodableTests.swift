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

  @Test func `Undecodable bytes are known until a source with them is removed, fresh or not`() {
    let cache = ThumbnailCache(diskAt: directory.path)
    for number in 1...2 { store(number, digest: digest, in: cache) }
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

  @Test(
    arguments: [
      { try $0.outdateFailures() }, { try $0.damageRecords(where: RowNumber.isVerdict) },
      { try $0.execute("UPDATE item SET record = zeroblob(16)") },
      { try $0.execute("UPDATE item SET record = (SELECT record FROM item WHERE \(RowNumber.isSource))") },
    ] as [@Sendable (StoredRowEditor) throws -> Void])
  func `An outdated or damaged failure does not condemn any bytes`(
    change: @Sendable (StoredRowEditor) throws -> Void
  ) throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(1, digest: digest, in: cache)
    cache.flush()
    try change(StoredRowEditor(directory))

    #expect(ThumbnailCache(diskAt: directory.path).imageError(of: digest) == nil)
  }

  @Test func `Removing a failure removes the verdict on its bytes`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(1, digest: digest, in: cache)
    cache.flush()
    cache.remove(Fixtures.key(1))
    cache.flush()

    #expect(ThumbnailCache(diskAt: directory.path).imageError(of: digest) == nil)
    #expect(try StoredRowEditor(directory).count("SELECT count(*) FROM item") == 0)
  }
}
