import Foundation
import Synchronization
import Testing

@testable import ImageCache

@Suite("Cache files that temporarily cannot be read")
struct UnreadableFileTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private static let count = 40

  init() throws { directory = try CachePlace() }

  /// Opens files, and fails for those with a given suffix while `fail` is in effect.
  private final class Files: Sendable {
    private let state = Mutex<(failure: Int32, name: String)?>(nil)

    func fail(_ failure: Int32, _ name: String = "") { state.withLock { $0 = (failure, name) } }
    func recover() { state.withLock { $0 = nil } }

    func open(_ path: String) -> Int32 {
      guard let (failure, name) = state.withLock({ $0 }), path.hasSuffix(name) else {
        return Foundation.open(path, O_RDONLY | O_CLOEXEC)
      }
      errno = failure
      return -1
    }
  }

  private func cache(_ files: Files, _ monitor: CacheMonitor = CacheMonitor(logger: .silent)) -> DiskCache {
    DiskCache(
      CacheDirectory(path: directory.path, openFile: files.open), byteLimit: 64 << 20, monitor: monitor,
      now: { Fixtures.start })
  }

  private func fill(_ numbers: Range<Int> = 0..<count) {
    let cache = ThumbnailCache(diskAt: directory.path)
    for number in numbers {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
    }
    cache.flush()
  }

  private func hits(_ numbers: Range<Int> = 0..<count, in cache: DiskCache) -> Int {
    numbers.count { number in
      let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
      return entry?.thumbnails == [Fixtures.spec: Fixtures.thumbnail(number)]
    }
  }

  private func store(_ number: Int, in cache: DiskCache) {
    cache.store(
      Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], original: [], for: Fixtures.key(number))
    cache.flush()
  }

  @Test(arguments: [EMFILE, ENFILE, EIO, ENOMEM, EACCES, EPERM, ELOOP, EINTR])
  func `A run that cannot read CURRENT skips the disk tier, and the next run finds every entry`(failure: Int32) throws {
    fill()
    let (files, monitor) = (Files(), CacheMonitor(logger: .silent))
    do {
      let cache = cache(files, monitor)
      files.fail(failure)
      #expect(hits(in: cache) == 0)
      store(100, in: cache)
      #expect(monitor.snapshot.errors[.io, default: 0] > 0)
      #expect(monitor.snapshot.written == 0)
    }

    #expect(hits(in: cache(Files())) == Self.count)
    #expect(try String(contentsOfFile: directory.path + "/CURRENT", encoding: .utf8) == "g1\n")
    #expect(directory.files.filter { $0.hasPrefix("g") && !$0.contains("/") } == ["g000001"])
  }

  @Test func `A run uses the existing entries again once CURRENT can be read`() {
    fill()
    let files = Files()
    let cache = cache(files)
    files.fail(EMFILE)
    store(100, in: cache)
    files.recover()
    store(101, in: cache)

    #expect(hits(in: cache) == Self.count)
    #expect(hits(101..<102, in: cache) == 1)
  }

  @Test func `An open generation stays readable while CURRENT is not`() {
    fill()
    let (files, monitor) = (Files(), CacheMonitor(logger: .silent))
    let reader = DiskReader(CacheDirectory(path: directory.path, openFile: files.open))
    func isFound() -> Bool {
      var used: [SlotUse] = []
      let lookup = CacheLookup(key: Fixtures.key(1), url: Fixtures.url(1), specs: [Fixtures.spec])
      let finding = try? reader.find([lookup], now: 0, used: &used).first
      guard case .found = finding else { return false }
      return true
    }

    #expect(isFound())

    files.fail(EIO)
    reader.invalidate()

    #expect(isFound())
    #expect(monitor.snapshot.errors.isEmpty)
  }

  @Test(arguments: [EMFILE, EIO, EACCES])
  func `An unreadable stored limit throws instead of falling back to the default`(failure: Int32) throws {
    fill()
    try CacheMaintenance.setLimit(3 << 30, directory: directory.path)
    let files = Files()
    files.fail(failure, "/LIMIT")
    let store = DiskStore(CacheDirectory(path: directory.path, openFile: files.open), byteLimit: nil)

    #expect(throws: DiskCacheError.self) { try store.limit() }

    files.recover()
    #expect(try store.limit() == 3 << 30)
  }

  @Test(arguments: [nil, "", "what\n", "g0\n", "g"])
  func `Only a missing or invalid CURRENT file leads to a new generation`(text: String?) throws {
    fill()
    let path = directory.path + "/CURRENT"
    try FileManager.default.removeItem(atPath: path)
    try text?.write(toFile: path, atomically: false, encoding: .utf8)
    fill(0..<1)

    #expect(try String(contentsOfFile: path, encoding: .utf8) == "g2\n")
  }

  @Test func `A new generation is newer than the last one, even if the directory cannot be listed`() throws {
    let files = CacheDirectory(path: directory.path)
    try files.create()
    #expect(try files.createGeneration(after: 7) == 8)
    #expect(try files.createGeneration(after: 3) == 9)
  }
}
