import Dispatch
import Foundation
import GRDB
import Glibc
import Synchronization
import Testing

@testable import ImageCache

@Suite("A cache whose lock or write-ahead log is held by another process")
struct BusyLockTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private let monitor = CacheMonitor(logger: .silent)

  init() throws { directory = try CachePlace() }

  private final class Clock: Sendable {
    private let instant = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { instant.withLock { $0 } }
    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
  }

  private func cache(_ clock: Clock = Clock(), stagingLimit: Int = 32 << 20) -> DiskCache {
    DiskCache(
      CacheDirectory(path: directory.path), byteLimit: 64 << 20, stagingLimit: stagingLimit, patience: .zero,
      monitor: monitor, now: { Fixtures.start }, clock: { clock.now })
  }

  private func store(_ numbers: Range<Int>, in cache: DiskCache) {
    for number in numbers {
      cache.store(
        Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], original: [], for: Fixtures.key(number))
    }
  }

  private func hits(_ numbers: Range<Int>) -> Int {
    let cache = ThumbnailCache(diskAt: directory.path)
    return numbers.count {
      cache.entry(for: Fixtures.key($0), url: Fixtures.url($0), specs: [Fixtures.spec])?.thumbnails.count == 1
    }
  }

  /// Runs `body` while another holder has the lock.
  private func whileLocked(_ body: () -> Void) throws {
    let path = CacheDirectory(path: directory.path).lockPath
    try FileLock(creating: path).withLock { () throws(DiskCacheError) in body() }
  }

  private var busyCount: Int { monitor.snapshot.errors[.busy, default: 0] }

  @Test func `Writes and removals that meet a busy lock are done later`() throws {
    let cache = cache()
    store(0..<10, in: cache)
    cache.flush()
    try whileLocked {
      store(10..<200, in: cache)
      for number in 0..<5 { cache.remove(Fixtures.key(number)) }
      cache.flush()
      #expect(cache.entry(for: Fixtures.key(150), url: Fixtures.url(150), specs: [Fixtures.spec]) != nil)
    }

    #expect(hits(0..<200) == 10)

    cache.flush()
    #expect(hits(0..<5) == 0)
    #expect(hits(5..<200) == 195)
    #expect(monitor.snapshot.dropped == 0)
    #expect(Set(monitor.snapshot.errors.keys) == [.busy])
  }

  @Test func `After a busy lock writes pause for 0.1, 1 and 10 seconds of the monotonic clock`() throws {
    let clock = Clock()
    let cache = cache(clock)
    store(0..<1, in: cache)
    cache.flush()
    try whileLocked {
      // Full batches are written at once, in the order of the writer's queue, for which `flush` waits.
      for (pause, number) in [(Duration.zero, 100), (.milliseconds(101), 200), (.seconds(1.1), 300)] {
        clock.advance(by: pause)
        let before = busyCount
        store(number..<number + 64, in: cache)
        for other in number + 1000..<number + 1010 { cache.remove(Fixtures.key(other)) }
        cache.flush()
        // The writer tries once by itself and once for the flush, however much is staged in between.
        #expect((1...2).contains(busyCount - before))
      }
    }
    cache.flush()

    #expect(hits(100..<164) + hits(200..<264) + hits(300..<364) == 192)
  }

  @Test func `Failing writes pause for 0.1, 1 and then 10 seconds until one succeeds`() {
    var backoff = WriteBackoff()
    let start = ContinuousClock.now
    #expect(backoff.remainder(at: start) == nil)

    for seconds in [0.1, 1, 10, 10] {
      backoff.noteFailure(at: start)
      #expect(backoff.remainder(at: start) == .seconds(seconds))
      #expect(backoff.remainder(at: start + .seconds(seconds)) == nil)
    }
    backoff.noteSuccess()
    #expect(backoff.remainder(at: start) == nil)

    backoff.noteFailure(at: start)
    #expect(backoff.remainder(at: start) == .milliseconds(100))
  }

  @Test func `Writes that wait for a busy lock are bounded in bytes, and removals have extra space`() throws {
    let cache = cache(stagingLimit: 100_000)
    store(0..<1, in: cache)
    cache.flush()
    try whileLocked {
      cache.flush()
      store(100..<300, in: cache)
      cache.remove(Fixtures.key(0))
      cache.flush()
    }

    #expect((150..<170).contains(monitor.snapshot.dropped))

    cache.flush()
    #expect(hits(0..<1) == 0)
    #expect(hits(100..<300) == 200 - monitor.snapshot.dropped)
  }

  @Test func `A removal survives a failing disk`() throws {
    let isFailing = Mutex(false)
    let place = CacheDirectory(path: directory.path) { path in
      guard isFailing.withLock({ $0 }) else { return open(path, O_RDONLY | O_CLOEXEC) }
      errno = EIO
      return -1
    }
    let cache = DiskCache(place, byteLimit: 64 << 20, monitor: monitor, now: { Fixtures.start })
    store(0..<2, in: cache)
    cache.flush()
    isFailing.withLock { $0 = true }
    cache.remove(Fixtures.key(0))
    store(5..<6, in: cache)
    cache.flush()
    isFailing.withLock { $0 = false }
    cache.flush()

    #expect(hits(0..<6) == 1)
    #expect(monitor.snapshot.dropped == 1)
  }

  @Test func `The lock is free between any two steps of a maintenance run`() throws {
    let cache = cache()
    store(0..<1500, in: cache)
    cache.flush()
    let lock = try FileLock(creating: CacheDirectory(path: directory.path).lockPath)
    var free = 0
    var run = MaintenanceRun(DiskStore(CacheDirectory(path: directory.path), byteLimit: nil), now: 0) {
      let isFree = (try? lock.withLock(patience: .zero) { () throws(DiskCacheError) in }) != nil
      free += isFree ? 1 : -100
    }
    defer { run.close() }

    #expect(try run.prune(downTo: 1 << 20) > 512)
    #expect(free >= 4)
  }

  @Test func `A stalled reader does not delay writers, and the log is emptied once the reader continues`() throws {
    var store = DiskStore(CacheDirectory(path: directory.path), byteLimit: 16 << 20)
    defer { store.close() }
    func write(_ round: Int) throws {
      let changes = (round * 64..<round * 64 + 64).map { number in
        let thumbnail = Fixtures.thumbnail(number, bytes: 16_000)
        let change = Staging.Change(source: Fixtures.source(number), thumbnails: [thumbnail.spec: thumbnail])
        return (key: Fixtures.key(number), change: change)
      }
      _ = try store.write(Staging.ChangeSet(changes: changes, used: []), now: round)
    }
    let place = CacheDirectory(path: directory.path)
    var log: Int { CacheDirectory.size(ofFile: place.databasePath(1) + "-wal") }
    try write(0)
    let reader = try DiskDatabase.reader(at: place.databasePath(1))
    let elapsed = try reader.unsafeRead { database in
      try database.execute(sql: "BEGIN; SELECT count(*) FROM slot")
      defer { try? database.execute(sql: "COMMIT") }
      return try ContinuousClock().measure { for round in 1...15 { try write(round) } }
    }

    // Waiting for the reader would take a second per write.
    #expect(elapsed < .seconds(8))
    #expect(log > 15 << 20)

    while log > 0, log < 40 << 20 { try write(100) }
    #expect(log == 0)
  }

  @Test func `A process that is stopped while it recovers the log delays the lookups of others only once`() throws {
    do {
      let cache = cache()
      store(0..<10, in: cache)
      cache.flush()
    }
    let files = CacheDirectory(path: directory.path)
    let reader = DiskReader(files)
    func isFound(_ number: Int) -> Bool? {
      var used: [SlotUse] = []
      let lookup = CacheLookup(key: Fixtures.key(number), url: Fixtures.url(number), specs: [])
      guard let finding = try? reader.find([lookup], now: 0, used: &used).first else { return nil }
      if case .found = finding { return true } else { return false }
    }
    let index = open(files.databasePath(1) + "-shm", O_RDWR | O_CLOEXEC)
    // The locks of a recovery (https://sqlite.org/walformat.html, section 2.3.1), as of another process (F_OFD_SETLK).
    var lock = Glibc.flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 120, l_len: 3, l_pid: 0)
    #expect(fcntl(index, 37, &lock) == 0)
    let elapsed = ContinuousClock().measure {
      #expect(isFound(0) == nil)
      for number in 1..<10 { #expect(isFound(number) == false) }
    }
    // SQLite gives up after 10 seconds.
    #expect(elapsed < .seconds(18))

    close(index)
    reader.invalidate()
    for number in 0..<10 { #expect(isFound(number) == true) }
  }

  @Test func `A checkpoint held back by a reader is tried again after the log grows by 16 MiB`() {
    var schedule = CheckpointSchedule()
    let limit = 2 << 30
    #expect(!schedule.isDue(logBytes: 16 << 20, limit: limit))
    #expect(schedule.isDue(logBytes: 17 << 20, limit: limit))

    schedule.note(isEmptied: false, logBytes: 17 << 20)
    #expect(!schedule.isDue(logBytes: 32 << 20, limit: limit))
    #expect(schedule.isDue(logBytes: 33 << 20, limit: limit))

    schedule.note(isEmptied: true, logBytes: 0)
    #expect(schedule.isDue(logBytes: 17 << 20, limit: limit))
    #expect(schedule.isDue(logBytes: 2 << 20, limit: 16 << 20))
  }

  @Test func `A verification reads in steps and never holds the log back between two of them`() throws {
    let cache = cache()
    store(0..<700, in: cache)
    cache.flush()
    let writer = try DatabaseQueue(path: CacheDirectory(path: directory.path).databasePath(1))
    var reads = 0
    let result = try CacheInspector(directory: directory.path).verify(
      .full,
      afterEachRead: {
        reads += 1
        try writer.writeWithoutTransaction { database in
          try database.execute(sql: "UPDATE slot SET bytes = bytes + 0 WHERE number = 1")
          #expect(try DiskDatabase.checkpoint(database))
        }
      }
    ) { _ in }

    // The 1,400 rows are read 128 at a time.
    #expect(reads > 11)
    #expect((result.sources, result.thumbnails, result.problems) == (700, 700, 0))
  }
}
