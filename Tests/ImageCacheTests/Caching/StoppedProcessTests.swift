import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ImageCache

@Suite("Processes stopped with SIGSTOP", .timeLimit(.minutes(5)))
struct StoppedProcessTests {
  private typealias Fixtures = CacheFixtures
  private static let processes = 3
  private static let shared = 0..<200
  /// Counts that several processes can read and write, in a shared file mapping.
  private struct SharedCounts: @unchecked Sendable {
    private let words: UnsafeMutablePointer<Int>

    init?(_ path: String) {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(descriptor) }
      guard ftruncate(descriptor, 4096) == 0,
        let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
      else { return nil }
      words = memory.assumingMemoryBound(to: Int.self)
    }

    subscript(index: Int) -> Int {
      get { words[index] }
      nonmutating set { words[index] = newValue }
    }
  }

  /// The slots of ``SharedCounts`` for each process: its identifier (-1 once it has finished) and its steps.
  private static func identifier(_ process: Int) -> Int { process * 2 }
  private static func steps(_ process: Int) -> Int { process * 2 + 1 }

  /// Runs for 3 seconds, or for as many as `THUMBS_PROCESS_SECONDS` sets.
  @Test func `Processes go on while another one is stopped at any moment, and none loses an entry`() async throws {
    let directory = try CachePlace()
    let (path, countsPath) = (directory.path, directory.path + ".counts")
    let counts = try #require(SharedCounts(countsPath))
    let seconds = CacheFixtures.count(of: "THUMBS_PROCESS_SECONDS", otherwise: 3)
    Self.fill(path)
    async let stops = withCheckedContinuation { continuation in
      // On a separate thread, because the testing library blocks threads of Swift concurrency while a process runs.
      Thread.detachNewThread { continuation.resume(returning: Self.stopAtRandom(counts)) }
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<Self.processes {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [
              path = path as String, countsPath = countsPath as String, number = number as Int,
              seconds = seconds as Int
            ] in
            let counts = try #require(SharedCounts(countsPath))
            Self.work(path, counts, number, seconds: seconds)
          }
        }
      }
    }
    let (count, isStalled, hadCompany) = await stops
    #expect(!isStalled)
    #expect(count > 5 || !hadCompany, "\(count) stops")
    let cache = ThumbnailCache(diskAt: path)
    for number in 0..<Self.processes {
      let stored = counts[Self.steps(number)] / Self.stepsPerEntry
      #expect(stored > 10)
      #expect(Self.hits(Self.own(number, stored), in: cache) == stored)
    }
    #expect(try CacheInspector(directory: path).verify(.full) { _ in }.problems == 0)
  }

  /// Stops one process after the other, each until all others have made some steps, until every process has finished.
  private static func stopAtRandom(_ counts: SharedCounts) -> (stops: Int, isStalled: Bool, hadCompany: Bool) {
    var generator = SeededGenerator(seed: 7)
    var (stops, isStalled, hadCompany) = (0, false, false)
    let end = ContinuousClock.now + .seconds(120)
    while (0..<processes).contains(where: { counts[identifier($0)] >= 0 }), ContinuousClock.now < end {
      usleep(UInt32.random(in: 0..<3000, using: &generator))
      let running = (0..<processes).filter { counts[identifier($0)] > 0 }
      guard let victim = running.randomElement(using: &generator), running.count > 1 else { continue }
      hadCompany = true
      kill(pid_t(counts[identifier(victim)]), SIGSTOP)
      isStalled = isStalled || !haveAdvanced(running.filter { $0 != victim }, counts)
      kill(pid_t(counts[identifier(victim)]), SIGCONT)
      stops += 1
    }
    return (stops, isStalled, hadCompany)
  }

  /// Waits until processes have finished or made some steps; returns false after 30 seconds.
  private static func haveAdvanced(_ others: [Int], _ counts: SharedCounts) -> Bool {
    let goals = others.map { counts[steps($0)] + 50 }
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let isDone = zip(others, goals).allSatisfy { counts[steps($0)] >= $1 || counts[identifier($0)] < 0 }
      if isDone { return true }
      usleep(200)
    }
    return false
  }

  private static let stepsPerEntry = 10

  /// The numbers of the first `count` entries that a process stores for itself.
  private static func own(_ process: Int, _ count: Int) -> Range<Int> {
    let first = 10_000 + process * 1_000_000
    return first..<first + count
  }

  private static func fill(_ path: String) {
    let cache = ThumbnailCache(diskAt: path)
    for number in shared { store(number, in: cache) }
    cache.flush()
  }

  private static func store(_ number: Int, in cache: ThumbnailCache) {
    cache.store(
      Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number, bytes: 200)], for: Fixtures.key(number))
  }

  private static func hits(_ numbers: Range<Int>, in cache: ThumbnailCache) -> Int {
    numbers.count { number in
      let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
      return entry?.thumbnails == [Fixtures.spec: Fixtures.thumbnail(number, bytes: 200)]
    }
  }

  /// Looks up and stores entries for some seconds.
  private static func work(_ path: String, _ counts: SharedCounts, _ process: Int, seconds: Int) {
    let cache = ThumbnailCache(diskAt: path, limit: 1 << 30)
    var generator = SeededGenerator(seed: UInt64(process))
    counts[identifier(process)] = Int(getpid())
    var step = 0
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end || step < 200 {
      let number = Int.random(in: shared, using: &generator)
      #expect(hits(number..<number + 1, in: cache) == 1)
      step += 1
      if step % stepsPerEntry == 0 { store(own(process, step / stepsPerEntry).upperBound - 1, in: cache) }
      counts[steps(process)] = step
    }
    counts[identifier(process)] = -1
    // A process that was stopped with the lock may have delayed the last writes.
    for _ in 0..<5 { cache.flush() }
    #expect(cache.counters.dropped == 0)
    #expect(cache.counters.errors.keys.allSatisfy { $0 == .busy })
  }
}
