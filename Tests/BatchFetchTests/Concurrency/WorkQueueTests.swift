import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(5))) struct WorkQueueTests {
  @Test func `A queue of one thread does its work in order`() async {
    let queue = WorkQueue(label: "test", width: 1)
    let done = Recorder<Int>()

    for number in 0..<1000 { queue.async { done.record(number) } }

    #expect(await done.values(count: 1000) == Array(0..<1000))
  }

  @Test func `A queue runs as much work at a time as its width, and no more`() async {
    let queue = WorkQueue(label: "test", width: 3)
    let (load, gate, begun, done) = (LoadMeter(), Gate(), Recorder<Int>(), Recorder<Int>())

    for number in 0..<30 {
      queue.async {
        load.enter()
        begun.record(number)
        gate.wait()
        load.leave()
        done.record(number)
      }
    }
    #expect(await Set(begun.values(count: 3)) == [0, 1, 2])

    gate.open()
    #expect(await Set(done.values(count: 30)) == Set(0..<30))
    #expect(load.peak == 3)
  }

  @Test func `Work that many threads add is done once, even after the queue was empty`() async {
    let queue = WorkQueue(label: "test", width: 2)
    for round in 1...20 {
      let done = Recorder<Int>()
      DispatchQueue.global().async {
        DispatchQueue.concurrentPerform(iterations: 100) { number in queue.async { done.record(number) } }
      }
      #expect(await Set(done.values(count: 100)).count == 100, "round \(round)")
    }
  }
}
