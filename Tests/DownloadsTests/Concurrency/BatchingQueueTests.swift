import Foundation
import TestSupport
import Testing

@testable import Downloads

@Suite("The queue of groups")
struct BatchingQueueTests {
  /// The threads that were started, which the test runs.
  private let spawned = Recorder<WorkThreads.Work>()
  private let groups = Recorder<[Int]>()

  private func queue(threads: Int = 1, limit: Int = 4) -> BatchingQueue<Int> {
    BatchingQueue(WorkThreads(count: threads) { [spawned] in spawned.record($0) }, groupLimit: limit) { [groups] in
      groups.record($0)
    }
  }

  @Test func `A thread takes all that waits, up to the limit, and ends when nothing is left`() throws {
    let queue = queue()
    for number in 0..<6 { queue.append(number) }
    try #require(spawned.values.count == 1)
    spawned.values[0]()

    #expect(groups.values == [[0, 1, 2, 3], [4, 5]])
    #expect(queue.waitingCount == 0)

    queue.append(6)
    #expect(spawned.values.count == 2)
  }

  @Test func `Each thread takes its share of what waits`() {
    let queue = queue(threads: 2)
    for number in 0..<6 { queue.append(number) }
    for thread in spawned.values { thread() }

    #expect(groups.values == [[0, 1, 2], [3], [4], [5]])
  }

  @Test func `A group holds the highest priorities, and no canceled element`() {
    let queue = queue(limit: 2)
    let canceled = Recorder<Int>()
    let handles = (0..<5).map { number in queue.append(number, .low, onCancel: { canceled.record(number) }) }
    handles[1].cancel()
    handles[4].setPriority(.high)
    spawned.values[0]()

    #expect(groups.values == [[4, 0], [2, 3]])
    #expect(canceled.values == [1])
  }

  @Test func `An element that was handled can no longer be canceled`() {
    let queue = queue()
    let canceled = Recorder<Int>()
    let handle = queue.append(1, onCancel: { canceled.record(1) })
    spawned.values[0]()
    handle.cancel()

    #expect(groups.values == [[1]])
    #expect(canceled.values.isEmpty)
  }
}
