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
  /// The stops of one test. Each ends when the other processes have done some work.
  private static let stops = CacheFixtures.count(of: "THUMBS_KILL_ROUNDS", otherwise: 40)

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

  /// The slots of ``SharedCounts``: for each process its identifier and its steps, then a request to finish.
  private static func identifier(_ process: Int) -> Int { process * 2 }
  private static func steps(_ process: Int) -> Int { process * 2 + 1 }
  private static let end = processes * 2

  @Test func `Processes go on while another one is stopped at any moment, and none loses an entry`() async throws {
    let directory = try CachePlace()
    let (path, countsPath) = (directory.path, directory.path + ".counts")
    let counts = try #require(SharedCounts(countsPath))
    Self.fill(path)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<Self.processes {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, countsPath = countsPath as String, number = number as Int] in
            let counts = try #require(SharedCounts(countsPath))
            Self.work(path, counts, number)
          }
        }
      }
      await Self.stopAtRandom(counts)
      counts[Self.end] = 1
    }
    let cache = ThumbnailCache(diskAt: path)
    for number in 0..<Self.processes {
      let stored = counts[Self.steps(number)] / Self.stepsPerEntry
      #expect(stored > 10)
      #expect(Self.hits(Self.own(number, stored), in: cache) == stored)
    }
    #expect(try CacheInspector(directory: path).verify(.full) { _ in }.problems == 0)
  }

  /// Stops one process after the other until all others have made some steps.
  private static func stopAtRandom(_ counts: SharedCounts) async {
    var generator = SeededGenerator(seed: 7)
    await eventually { (0..<processes).allSatisfy { counts[identifier($0)] != 0 && counts[steps($0)] > 20 } }
    for _ in 0..<stops {
      let victim = Int.random(in: 0..<processes, using: &generator)
      let others = (0..<processes).filter { $0 != victim }
      // The steps take some time each, so this is a random moment of the victim's work.
      let moment = counts[steps(victim)] + Int.random(in: 0..<20, using: &generator)
      await eventually { counts[steps(victim)] >= moment }
      kill(pid_t(counts[identifier(victim)]), SIGSTOP)
      let goals = others.map { counts[steps($0)] + 100 }
      let start = ContinuousClock.now
      await eventually { zip(others, goals).allSatisfy { counts[steps($0)] >= $1 } }
      kill(pid_t(counts[identifier(victim)]), SIGCONT)
      // A process that waited for the stopped one would wait until the time limit of the suite.
      #expect(start.duration(to: .now) < .seconds(30))
    }
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

  /// Looks up and stores entries until the end is requested.
  private static func work(_ path: String, _ counts: SharedCounts, _ process: Int) {
    let cache = ThumbnailCache(diskAt: path, limit: 1 << 30)
    var generator = SeededGenerator(seed: UInt64(process))
    counts[identifier(process)] = Int(getpid())
    var step = 0
    while counts[end] == 0 {
      let number = Int.random(in: shared, using: &generator)
      #expect(hits(number..<number + 1, in: cache) == 1)
      step += 1
      if step % stepsPerEntry == 0 { store(own(process, step / stepsPerEntry).upperBound - 1, in: cache) }
      counts[steps(process)] = step
    }
    // A process that was stopped with the lock may have delayed the last writes.
    for _ in 0..<5 { cache.flush() }
    #expect(cache.counters.dropped == 0)
    #expect(cache.counters.errors.keys.allSatisfy { $0 == .busy })
  }
}
