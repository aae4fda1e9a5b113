import DownloadSupport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct WorkQueueTests {
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

  @Test func `Work waits by priority, which can change, and in order if it is equal`() async {
    let queue = WorkQueue(label: "test", width: 1)
    let (done, gate) = (Recorder<String>(), Gate())
    await queue.occupy(1, until: gate)

    let handles = [("a", Priority.low), ("b", .normal), ("c", .high), ("d", .normal), ("e", .low)].map {
      name, priority in
      queue.async(priority) { done.record(name) }
    }
    handles[4].setPriority(.high)
    handles[1].setPriority(.low)
    #expect(queue.waitingCount == 5)
    gate.open()

    #expect(await done.values(count: 5) == ["c", "e", "d", "a", "b"])
    // A change that comes too late.
    handles[0].setPriority(.high)
    #expect(queue.waitingCount == 0)
  }

  @Test func `Work that is canceled while it waits leaves the queue at once, and never runs`() async {
    let queue = WorkQueue(label: "test", width: 1)
    let (done, canceled, gate) = (Recorder<Int>(), Recorder<Int>(), Gate())
    await queue.occupy(1, until: gate)

    let handles = (0..<4).map { number in
      queue.async(onCancel: { canceled.record(number) }, { done.record(number) })
    }
    for index in [1, 2, 1] { handles[index].cancel() }
    #expect(queue.waitingCount == 2 && canceled.values == [1, 2])
    gate.open()

    #expect(await done.values(count: 2) == [0, 3])
    for handle in handles { handle.cancel() }
    #expect(canceled.values == [1, 2])
  }

  @Test func `Canceled work is released at once`() async {
    let queue = WorkQueue(label: "test", width: 1)
    let gate = Gate()
    await queue.occupy(1, until: gate)
    weak var released: Gate?
    let handle = {
      let captured = Gate.opened
      released = captured
      return queue.async { captured.wait() }
    }()
    #expect(released != nil)

    handle.cancel()
    #expect(released == nil)
    gate.open()
  }

  @Test func `A thread whose turn is over ends after its piece, and another one takes the next piece`() throws {
    let (threads, done) = (Recorder<WorkQueue.Work>(), Recorder<Int>())
    let queue = WorkQueue(WorkThreads(count: 1, turn: .zero) { threads.record($0) })

    for number in 0..<3 { queue.async { done.record(number) } }
    for count in 1...3 {
      try #require(threads.values.count == count)
      threads.values[count - 1]()
      #expect(done.values == Array(0..<count))
    }
    try #require(threads.values.count == 4)
    // The last thread finds nothing to do. The next piece needs a new one.
    threads.values[3]()
    #expect(threads.values.count == 4)
    queue.async { done.record(3) }
    #expect(threads.values.count == 5)
  }
}
