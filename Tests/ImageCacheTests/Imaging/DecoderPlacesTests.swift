import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ImageCache

/// The memory of all processes that decode is bounded: each has a limit, and their number has one.
@Suite(.timeLimit(.minutes(10))) struct DecoderPlacesTests {
  private let places = DecoderPlaces(limit: 2)

  /// A pool whose processes share the places. Two pools have different programs.
  private func pool(_ name: String = "thumbs-decode") -> DecoderPool {
    DecoderPool(DecoderProgram(path: HostileDecoder.program, name: name), DecoderIsolation(), places: places)
  }

  @Test func `A thread that needs a process waits until another one is idle`() async throws {
    let pool = pool()
    let (first, second) = (try pool.take(), try pool.take())
    let taken = Recorder<Int32>()
    Thread {
      guard let process = try? pool.take() else { return }
      taken.record(process.id)
      pool.giveBack(process)
    }.start()
    await eventually { places.sleeperCount == 1 }
    #expect(taken.values.isEmpty && places.takenCount == 2)

    pool.giveBack(second)

    #expect(await taken.values(count: 1) == [second.id])
    pool.giveBack(first)
    #expect(places.takenCount == 2)
  }

  @Test func `A process that ends makes room, and so does an idle one of another program`() async throws {
    let (pool, other) = (pool(), pool("other"))
    let (first, second) = (try pool.take(), try pool.take())
    let taken = Recorder<Int32>()
    Thread {
      for _ in 0..<2 { if let process = try? other.take() { taken.record(process.id) } }
    }.start()
    await eventually { places.sleeperCount == 1 }

    pool.end(first)
    _ = await taken.values(count: 1)
    #expect(kill(second.id, 0) == 0)
    pool.giveBack(second)

    #expect(await Set(taken.values(count: 2)).isDisjoint(with: [first.id, second.id]))
    await eventually { kill(second.id, 0) != 0 }
    #expect(places.takenCount == 2)
  }

  @Test(arguments: ["open", "decode"], ["crash", "leave", "send-garbage", "exhaust", "nothing"])
  func `No failure keeps a place, and never are there more processes than places`(step: String, attempt: String) {
    var isolation = DecoderIsolation()
    isolation.program = HostileDecoder.program
    (isolation.maxMemory, isolation.maxTotalMemory) = (512 << 20, 1 << 30)
    let renderer = Renderer(isolation: isolation)
    let spec = ThumbnailSpec(width: 16, format: .rgba)

    DispatchQueue.concurrentPerform(iterations: 12) { _ in
      _ = try? renderer.render(HostileDecoder.image(step, attempt), specs: [spec])
      #expect(renderer.caches.places.takenCount <= 2)
    }

    #expect(renderer.caches.places.takenCount <= (attempt == "nothing" ? 2 : 0))
    #expect(throws: Never.self) { try renderer.render(HostileDecoder.image("no", "attempt"), specs: [spec]) }
  }

  @Test(arguments: [
    // The memory of all processes and of one in MiB, that of each, and their number.
    (16 << 10, 2048, 2048, 8), (1024, 2048, 1024, 1), (100, 2048, 512, 1), (4096, 256, 256, 16), (0, 2048, 512, 1),
  ])
  func `The memory of a process and the number of processes follow from the memory of all`(
    total: Int, one: Int, each: Int, count: Int
  ) {
    var isolation = DecoderIsolation()
    (isolation.maxTotalMemory, isolation.maxMemory) = (total << 20, one << 20)
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let share = total / processors > 1024 ? min(one, total / processors) : each

    #expect(isolation.processMemory == share << 20)
    #expect(isolation.maxProcesses == (share == each ? count : total / share))
    #expect(isolation.processMemory * isolation.maxProcesses <= max(total << 20, 512 << 20))
  }

  @Test func `By default, all processes together get half of the memory of the machine`() throws {
    let isolation = DecoderIsolation()
    let memory = try #require(MemoryLimits.current.machine)

    #expect(isolation.processMemory * isolation.maxProcesses <= max(memory / 2, 512 << 20))
    #expect(isolation.processMemory <= isolation.maxMemory)
  }
}
