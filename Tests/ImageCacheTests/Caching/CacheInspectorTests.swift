import Foundation
import GRDB
import Testing

@testable import ImageCache

@Suite("Inspecting a cache")
struct CacheInspectorTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  private func fill(_ count: Int) {
    let cache = ThumbnailCache(diskAt: directory.path)
    for number in 0..<count {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
    }
    cache.store(Fixtures.failure(count), thumbnails: [], for: Fixtures.key(count))
    cache.flush()
  }

  private func snapshot() throws -> [String: Date?] {
    try Dictionary(
      uniqueKeysWithValues: directory.files.filter { !$0.hasSuffix("-shm") }.map { file in
        (
          file,
          try FileManager.default.attributesOfItem(atPath: directory.path + "/" + file)[.modificationDate] as? Date
        )
      })
  }

  @Test func `Inspecting or clearing a directory without a cache throws and creates nothing`() {
    #expect { try CacheInspector(directory: directory.path) } throws: { ($0 as? DiskCacheError)?.code == .noCache }
    #expect { try CacheMaintenance.clear(directory: directory.path) } throws: {
      ($0 as? DiskCacheError)?.code == .noCache
    }
    #expect(!FileManager.default.fileExists(atPath: directory.path))
  }

  @Test func `A failure from an older renderer counts as outdated, not as damage, and is not served`() throws {
    fill(3)
    try StoredRowEditor(directory).outdateFailures()
    let inspector = try CacheInspector(directory: directory.path)
    let result = try inspector.verify(.full) { Issue.record("\($0)") }

    #expect((result.sources, result.outdated, result.problems) == (3, 1, 0))

    let cache = ThumbnailCache(diskAt: directory.path)
    #expect(cache.entry(for: Fixtures.key(3), url: Fixtures.url(3), specs: [Fixtures.spec]) == nil)
  }

  @Test func `Statistics count what was stored`() throws {
    fill(10)
    let fresh = try CacheInspector(directory: directory.path).statistics(at: Fixtures.start)
    #expect((fresh.sources, fresh.freshSources, fresh.staleSources, fresh.failures) == (11, 10, 0, 1))
    #expect((fresh.thumbnails, fresh.thumbnailBytes) == (10, 20_000))
    #expect(fresh.usedBytes > 20_000)
    #expect(fresh.oldestUse == Fixtures.start)

    let stale = try CacheInspector(directory: directory.path).statistics(at: Fixtures.start + 3600)
    #expect((stale.freshSources, stale.staleSources) == (0, 10))
  }

  @Test func `The statistics of an empty cache are zero`() throws {
    fill(1)
    try CacheMaintenance.clear(directory: directory.path)
    let statistics = try CacheInspector(directory: directory.path).statistics(at: Fixtures.start)

    #expect((statistics.sources, statistics.thumbnails, statistics.generation) == (0, 0, 2))
    #expect(statistics.oldestUse == nil)
  }

  @Test(arguments: [0, 499, 500, 1203])
  func `Every source is listed exactly once over any number of pages`(count: Int) throws {
    fill(count)
    var keys: Set<SourceKey> = []
    var labels: Set<String> = []
    try CacheInspector(directory: directory.path).forEachSource { listed in
      #expect(keys.insert(listed.key).inserted)
      labels.formUnion(listed.thumbnails.map(\.label))
    } damaged: {
      Issue.record("\($0) sources are damaged")
    }

    #expect(keys == Set((0...count).map(Fixtures.key)))
    #expect(labels == (count == 0 ? [] : ["64x64"]))
  }

  @Test func `Inspecting a cache changes no file`() throws {
    fill(10)
    let before = try snapshot()
    let inspector = try CacheInspector(directory: directory.path)
    _ = try inspector.statistics(at: Fixtures.start)
    try inspector.forEachSource { _ in }

    #expect(try snapshot() == before)
  }

  @Test(arguments: [
    (["THUMBS_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"], "/a"),
    (["XDG_CACHE_HOME": "/b", "HOME": "/c"], "/b/thumbs"),
    (["XDG_CACHE_HOME": "b", "HOME": "/c"], "/c/.cache/thumbs"),
    (["THUMBS_CACHE_DIR": "", "HOME": "/c"], "/c/.cache/thumbs"), ([:], nil),
  ])
  func `The default location follows THUMBS_CACHE_DIR, XDG_CACHE_HOME and HOME in this order`(
    environment: [String: String], path: String?
  ) {
    #expect(CacheLocation.standard(environment: environment) == path)
  }
}
