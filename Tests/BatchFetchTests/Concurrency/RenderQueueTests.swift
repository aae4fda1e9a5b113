import DownloadSupport
import Foundation
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

extension RenderQueue {
  /// Occupies `count` threads until `gate` opens. Returns when they are occupied: all work that they had is done.
  func occupy(_ count: Int, of host: String? = nil, until gate: Gate) async {
    let begun = Recorder<Void>()
    for _ in 0..<count {
      async(.high, of: host) {
        begun.record(())
        gate.wait()
      }
    }
    _ = await begun.values(count: count)
  }
}

@Suite(.timeLimit(.minutes(10))) struct RenderQueueTests {
  private let clock = ManualClock()
  private let done = Recorder<String>()

  private func queue(width: Int) -> RenderQueue {
    RenderQueue(width: width, .owned("test"), now: clock.stopwatch()) { [clock] pause, work in
      _ = clock.run(after: pause, work)
    }
  }

  @Test func `Work waits by priority, which can change, and in order if it is equal`() async {
    let (queue, gate) = (queue(width: 1), Gate())
    await queue.occupy(1, until: gate)

    let handles = [("a", Priority.low), ("b", .normal), ("c", .high), ("d", .normal), ("e", .low)].map {
      [done] name, priority in queue.async(priority) { done.record(name) }
    }
    handles[4].setPriority(.high)
    handles[1].setPriority(.low)
    #expect(queue.waitingCount == 5)
    gate.open()

    #expect(await done.values(count: 5) == ["c", "e", "d", "a", "b"])
  }

  @Test func `Work that is canceled while it waits leaves the queue at once, and never runs`() async {
    let (queue, gate) = (queue(width: 1), Gate())
    await queue.occupy(1, until: gate)

    let handles = (0..<4).map { [done] number in
      queue.async(of: "host", onCancel: { done.record("canceled \(number)") }, { done.record("\(number)") })
    }
    for index in [1, 2, 1] { handles[index].cancel() }
    #expect(queue.waitingCount == 2 && done.values == ["canceled 1", "canceled 2"])
    gate.open()

    #expect(await done.values(count: 4).suffix(2) == ["0", "3"])
  }

  @Test func `Slow work of one host holds up no other, and a quick host uses no more threads than there are`() async {
    let (queue, gate, load) = (queue(width: 2), Gate(), LoadMeter())
    await queue.occupy(2, of: "slow", until: gate)
    queue.async(of: "slow") { [done] in done.record("slow") }
    for _ in 0..<100 {
      queue.async(of: "quick") { [done] in
        load.enter()
        load.leave()
        done.record("quick")
      }
    }
    await clock.waitForSleepers(1)
    #expect(queue.waitingCount == 101)

    clock.advance(by: RenderQueue.patience)
    #expect(await done.values(count: 100).allSatisfy { $0 == "quick" })
    #expect(queue.waitingCount == 1 && load.peak <= 2)

    gate.open()
    #expect(await done.values(count: 101).last == "slow")
  }

  @Test func `Work that many threads add is done once, on threads that end when there is none`() async {
    let queue = queue(width: 2)
    for round in 1...20 {
      let done = Recorder<Int>()
      DispatchQueue.global().async {
        DispatchQueue.concurrentPerform(iterations: 100) { number in
          queue.async(of: "\(number % 7)") { done.record(number) }
        }
      }
      #expect(await Set(done.values(count: 100)).count == 100, "round \(round)")
    }
  }
}
