import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite("Files in a cache directory that the cache did not make", .timeLimit(.minutes(10)))
struct ForeignFileTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private let monitor = CacheMonitor(logger: .silent)
  private static let count = 20

  init() throws {
    directory = try CachePlace()
    let cache = ThumbnailCache(diskAt: directory.path)
    Self.store(0..<Self.count, in: cache)
  }

  private static func store(_ numbers: Range<Int>, in cache: ThumbnailCache) {
    for number in numbers {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
    }
    cache.flush()
  }

  /// Looks up all entries and stores one more.
  private func use() -> (hits: Int, errors: Set<DiskCacheError.Code>) {
    let cache = ThumbnailCache(.init(directory: directory.path, memoryByteLimit: 0), logger: .silent)
    let hits = (0..<Self.count).count {
      cache.entry(for: Fixtures.key($0), url: Fixtures.url($0), specs: [Fixtures.spec])?.thumbnails.count == 1
    }
    Self.store(100..<101, in: cache)
    return (hits, Set(cache.counters.errors.keys))
  }

  @Test(.enabled(if: geteuid() == 0, "Only root may give a directory away."))
  func `A directory of another user is neither read nor written`() throws {
    let files = Set(directory.files)
    #expect(chown(directory.path, 12345, 12345) == 0)
    let result = use()
    #expect(result.hits == 0 && result.errors == [.io])
    #expect(throws: DiskCacheError.self) { try CacheInspector(directory: directory.path) }
    #expect(throws: DiskCacheError.self) { try CacheMaintenance.clear(directory: directory.path) }
    #expect(Set(directory.files) == files)

    #expect(chown(directory.path, 0, 0) == 0)
    #expect(use().hits == Self.count)
  }

  @Test(
    .enabled(if: geteuid() == 0, "Only root may give a directory away."),
    arguments: [(65534, "nobody"), (12345, "12345")])
  func `The error names the other user`(number: uid_t, name: String) throws {
    #expect(chown(directory.path, number, number) == 0)
    let error = #expect(throws: DiskCacheError.self) { try CacheInspector(directory: directory.path) }
    #expect(error?.message.contains("another user (\(name))") == true)
  }

  @Test(
    .enabled(if: geteuid() == 0, "Only root may give a file away."),
    arguments: ["CURRENT", "LIMIT", "g000001", "g000001/cache.db", "g000001/cache.db-wal", "g000001/cache.db-shm"])
  func `A file of another user is not read`(name: String) throws {
    try CacheMaintenance.setLimit(1 << 30, directory: directory.path)
    #expect(chown(directory.path + "/" + name, 12345, 12345) == 0)
    let result = use()
    #expect(result.errors == [.io])
    #expect(result.hits == (name == "LIMIT" ? Self.count : 0))
  }

  @Test(arguments: [0o720, 0o702, 0o777])
  func `A generation that other users may change is not read`(mode: mode_t) {
    let path = directory.path + "/g000001"
    #expect(chmod(path, mode) == 0)
    let result = use()
    #expect(result.hits == 0 && result.errors == [.io])

    #expect(chmod(path, 0o755) == 0)
    #expect(use().hits == Self.count)
  }

  @Test(arguments: ["CURRENT", "g000001", "g000001/cache.db", "g000001/cache.db-wal", "g000001/cache.db-shm"])
  func `A link in place of a file is not followed`(name: String) throws {
    let (path, aside) = (directory.path + "/" + name, directory.path + ".aside")
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: aside)
    let result = use()
    #expect(result.hits == 0 && result.errors == [.io])

    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    #expect(use().hits == Self.count)
  }

  @Test(arguments: ["CURRENT.new", "LIMIT.new"])
  func `A link in place of a temporary file does not overwrite its target`(name: String) throws {
    let victim = directory.path + ".victim"
    try "precious".write(toFile: victim, atomically: false, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: directory.path + "/" + name, withDestinationPath: victim)
    try CacheMaintenance.setLimit(1 << 30, directory: directory.path)
    try CacheMaintenance.clear(directory: directory.path)

    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    #expect(try CacheMaintenance.limit(directory: directory.path) == 1 << 30)
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/CURRENT")
    #expect(attributes[.type] as? FileAttributeType == .typeRegular)
  }

  @Test func `A link in place of the lock is not followed`() throws {
    let victim = directory.path + ".victim"
    try FileManager.default.removeItem(atPath: directory.path + "/lock")
    try FileManager.default.createSymbolicLink(atPath: directory.path + "/lock", withDestinationPath: victim)

    #expect(use().errors == [.io])
    #expect(!FileManager.default.fileExists(atPath: victim))
  }

  @Test func `Folders whose names resemble those of generations are left alone`() throws {
    let files = ["g202401/notes.txt", "g000777/cache.db", "g000777/notes.txt", "g99/cache.db", "g+00099/cache.db"]
    for file in files {
      let path = directory.path + "/" + file
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try "mine".write(toFile: path, atomically: false, encoding: .utf8)
    }
    let folders = ["g999999", "g9223372036854775807"]
    for folder in folders {
      try FileManager.default.createDirectory(
        atPath: directory.path + "/" + folder, withIntermediateDirectories: false)
    }
    for _ in 0..<3 { try CacheMaintenance.clear(directory: directory.path) }
    Self.store(0..<1, in: ThumbnailCache(diskAt: directory.path))

    #expect(Set(directory.files).isSuperset(of: files + folders))
    #expect(!directory.files.contains("g000001"))
  }

  @Test func `A directory in use is not removed, and stays in use after the attempt`() async throws {
    let path = directory.path + "/g000001"
    do {
      let hold = try FileLock(sharingDirectory: path)
      for _ in 0..<2 { #expect(try FileLock.withFreeDirectory(path) { Issue.record("It is in use.") } == false) }
      #expect(hold.isInPlace)
    }
    // A process that another test is starting has inherited the lock, until it runs its own program.
    await eventually { (try? FileLock.withFreeDirectory(path) {}) == true }
    #expect(!Task.isCancelled)
  }

  @Test func `A tag file that cannot be written does not stay empty`() async throws {
    let path = directory.path
    try FileManager.default.removeItem(atPath: path + "/CACHEDIR.TAG")
    await #expect(processExitsWith: .success) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 10, rlim_max: 10)
      #expect(setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0)
      #expect(throws: DiskCacheError.self) { try CacheDirectory(path: path).create() }
    }
    try CacheDirectory(path: path).create()

    #expect(try String(contentsOfFile: path + "/CACHEDIR.TAG", encoding: .utf8).hasPrefix("Signature: 8a47"))
  }

  @Test func `Failed attempts to create a cache leave no directories behind`() async throws {
    let path = directory.path
    try FileManager.default.removeItem(atPath: path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      // No file may grow, so no database can be created.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 200, rlim_max: 200)
      #expect(setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0)
      let cache = ThumbnailCache(.init(directory: path), logger: .silent)
      for number in 0..<5 { Self.store(number..<number + 1, in: cache) }
      #expect(!cache.counters.errors.isEmpty)
    }

    #expect(directory.files.filter { $0.hasPrefix("g") } == [])
  }
}
