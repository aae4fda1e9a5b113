import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite("Processes stopped with SIGSTOP", .timeLimit(.minutes(20)))
struct StoppedProcessTests {
  private typealias Fixtures = CacheFixtures
  private static let processes = 3
  private static let shared = 0..<200
  private static let bytes = 200
  private static let stepsPerEntry = 10
  private static let stepsPerFlush = 40

  /// The number of stops, and their effect on others.
  private struct Stops {
    var count = 0
    var isStalled = false
  }

  /// Runs for 3 seconds, or for as many as `THUMBS_PROCESS_SECONDS` sets.
  @Test func `Processes go on while another one is stopped at any moment, and none loses an entry`() async throws {
    let directory = try CachePlace()
    let path = directory.path
    let seconds = CacheFixtures.count(of: "THUMBS_PROCESS_SECONDS", otherwise: 3)
    Self.fill(path)
    for number in 0..<Self.processes { #expect(StepPipe.make(Self.pipe(path, number))) }
    async let stops = withCheckedContinuation { continuation in
      // On a separate thread, because the testing library blocks threads of Swift concurrency while a process runs.
      Thread.detachNewThread { continuation.resume(returning: Self.stopAtRandom(path)) }
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<Self.processes {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int, seconds = seconds as Int] in
            Self.work(path, number, seconds: seconds)
          }
        }
      }
    }
    let result = await stops
    #expect(!result.isStalled)
    #expect(result.count > 2)
    let cache = ThumbnailCache(diskAt: path)
    for number in 0..<Self.processes {
      let stored = try #require(Int(String(contentsOfFile: Self.pipe(path, number) + ".stored", encoding: .utf8)))
      #expect(stored > 10)
      #expect(cache.checkedHits(Self.own(number, stored), bytes: Self.bytes) == stored)
    }
    #expect(try CacheInspector(directory: path).verify(.full) { _ in }.problems == 0)
  }

  /// Stops one process after the other, each until all others have made some steps, until one of them ends.
  private static func stopAtRandom(_ path: String) -> Stops {
    let pipes = (0..<processes).map { PipeReference(pipe(path, $0)) }
    let identifiers = pipes.compactMap { $0.pipe.identifier() }
    var (stops, generator) = (Stops(), SeededGenerator(seed: 7))
    guard identifiers.count == processes else { return stops }
    while true {
      let victim = Int.random(in: 0..<processes, using: &generator)
      // A signal arrives anywhere within the step that follows.
      guard pipes[victim].pipe.wait(for: Int.random(in: 1...40, using: &generator)) == .advanced else { break }
      kill(identifiers[victim], SIGSTOP)
      let progress = (0..<processes).filter { $0 != victim }.map { other in
        pipes[other].pipe.skip()
        return pipes[other].pipe.wait(for: 50)
      }
      kill(identifiers[victim], SIGCONT)
      stops.count += 1
      stops.isStalled = stops.isStalled || progress.contains(.stalled)
      if progress.contains(where: { $0 != .advanced }) { break }
    }
    for pipe in pipes { while pipe.pipe.wait(for: 1 << 12) == .advanced {} }
    return stops
  }

  /// Arrays hold no noncopyable values.
  private final class PipeReference {
    let pipe: StepPipe
    init(_ path: String) { pipe = StepPipe(reading: path) }
  }

  private static func pipe(_ path: String, _ process: Int) -> String { "\(path).steps-\(process)" }

  /// The numbers of the first `count` entries that a process stores for itself.
  private static func own(_ process: Int, _ count: Int) -> Range<Int> {
    let first = 10_000 + process * 1_000_000
    return first..<first + count
  }

  private static func fill(_ path: String) {
    let cache = ThumbnailCache(diskAt: path)
    cache.store(shared, bytes: bytes)
    cache.flush()
  }

  /// Looks up and stores entries for some seconds.
  private static func work(_ path: String, _ process: Int, seconds: Int) {
    let cache = ThumbnailCache(diskAt: path, limit: 1 << 30)
    // The first connection recovers the log. A process that is stopped at that moment makes others miss for seconds,
    // which another test covers.
    #expect(cache.checkedHits(shared, bytes: bytes) == shared.count)
    cache.flush()
    let steps = makeSteps(in: cache, StepPipe(writing: pipe(path, process)), process, seconds: seconds)
    // A process that was stopped with the lock may have delayed the last writes.
    for _ in 0..<5 { cache.flush() }
    #expect(cache.counters.dropped == 0)
    #expect(cache.counters.errors.keys.allSatisfy { $0 == .busy })
    let stored = "\(steps / stepsPerEntry)"
    #expect(throws: Never.self) {
      try stored.write(toFile: pipe(path, process) + ".stored", atomically: true, encoding: .utf8)
    }
  }

  /// Returns the number of steps made. The pipe ends with them.
  private static func makeSteps(
    in cache: ThumbnailCache, _ pipe: consuming StepPipe, _ process: Int, seconds: Int
  ) -> Int {
    var generator = SeededGenerator(seed: UInt64(process))
    var step = 0
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end || step < 1000 {
      let number = Int.random(in: shared, using: &generator)
      #expect(cache.checkedHits(number..<number + 1, bytes: bytes) == 1)
      step += 1
      if step % stepsPerEntry == 0 {
        let last = own(process, step / stepsPerEntry).upperBound
        cache.store(last - 1..<last, bytes: bytes)
      }
      if step % stepsPerFlush == 0 { cache.flush() }
      pipe.step()
    }
    return step
  }
}
