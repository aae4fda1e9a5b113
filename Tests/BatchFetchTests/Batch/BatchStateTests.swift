import DownloadSupport
import Testing

@testable import BatchFetch

@Suite struct BatchStateTests {
  /// Returns the state of a batch whose elements are their own indices.
  private func state(window: Int, perHost: Int = 100, lookahead: Int = 100) -> BatchState<Int> {
    BatchState(window: window, lookahead: lookahead) { _ in perHost }
  }

  @Test func `Pulling is resumed once, and only if it stopped because the window was full`() {
    var state = state(window: 2)

    let first = state.reserve()
    // Pulling continues and finds the free place by itself. A call for each place would pile up behind a source that
    // blocks.
    let whilePulling = state.release(host: nil).resumesPulling
    let next = [state.reserve(), state.reserve(), state.reserve()]
    let afterStop = (0..<2).map { _ in state.release(host: nil).resumesPulling }

    #expect(first == 0 && next == [1, 2, nil])
    #expect(!whilePulling)
    #expect(afterStop == [true, false])
  }

  @Test func `The bytes of the outcomes add up`() {
    var state = state(window: 3)
    let finished = [
      state.deliver(.success, bytes: 7), state.deliver(.failure), state.deliver(.success, bytes: 5),
    ]
    #expect(finished == [1, 2, 3] && state.failed == 1 && state.receivedBytes == 12)
  }

  @Test func `A large window is refilled once an eighth of it is free`() {
    var state = state(window: 16)
    while state.reserve() != nil {}

    let released = (0..<16).map { _ in state.release(host: nil).resumesPulling }

    #expect(released.firstIndex(of: true) == 2 && released.count { $0 } == 1)
  }

  @Test func `A closed batch pulls nothing more`() {
    var state = state(window: 1)

    let first = state.reserve()
    let isFirstClose = state.close()
    let afterEnd = state.reserve()
    let isResumed = state.release(host: nil).resumesPulling

    #expect(first == 0 && isFirstClose && afterEnd == nil && !isResumed)
  }

  @Test func `A parked element takes no place in the window`() {
    var state = state(window: 3, perHost: 2)

    let begun = ["a", "a", "a", "a", "b"].map { state.pull($0) }
    let isFull = state.reserve() == nil

    #expect(begun == [true, true, false, false, true])
    #expect(isFull && state.parkedCount == 2)
  }

  @Test func `Pulling stops at the maximum of parked elements, and resumes once an eighth of them has begun`() {
    var state = state(window: 100, perHost: 1, lookahead: 16)
    while state.pull("a") != nil {}
    let parked = state.parkedCount

    let freed = (0..<4).map { _ in state.release(host: "a") }

    #expect(parked == 16)
    #expect(freed.map(\.next) == [[1], [2], [3], [4]])
    #expect(freed.map(\.resumesPulling) == [false, false, true, false])
  }

  @Test func `A parked element begins although elements that wait for it fill the window`() {
    var state = state(window: 4, perHost: 2)
    let hosts = ["a", "a", "a", nil, nil]

    let begun = hosts.map { state.pull($0) }
    let isFull = state.reserve() == nil
    let freed = state.release(host: "a")

    #expect(begun == [true, true, false, true, true] && isFull)
    #expect(freed.next == [2] && !freed.resumesPulling)
  }

  @Test func `Elements without a host begin, however many there are`() {
    var state = state(window: 100, perHost: 1)

    let begun = (0..<50).map { _ in state.pull(nil) }

    #expect(begun.allSatisfy { $0 == true })
  }

  @Test func `Hosts whose elements do not end leave room in the window to three thousand others`() {
    var state = state(window: 4096, perHost: 24, lookahead: 200_000)
    let hosts = (0..<3000).flatMap { Array(repeating: "\($0)", count: 40) }

    let begun = hosts.map { host in (host, state.pull(host)) }

    #expect(begun.allSatisfy { $0.1 != nil })
    #expect(Set(begun.filter { $0.1 == true }.map(\.0)).count == 3000)
  }

  @Test func `A canceled batch gives back its parked elements once, and parks no other`() {
    var state = state(window: 100, perHost: 1)
    let begun = (0..<4).map { _ in state.pull("a") }
    let reserved = state.reserve()

    let parked = [state.cancel(), state.cancel()]
    let isBegun = state.begin(4, host: "a", priority: .normal)

    #expect(begun == [true, false, false, false] && reserved == 4)
    #expect(parked == [[1, 2, 3], nil])
    #expect(isBegun && state.parkedCount == 0 && state.isCancelled)
  }
}

extension BatchState<Int> {
  /// Pulls the next element. Returns true if it begins, false if it is parked, and nil if it may not be pulled now.
  fileprivate mutating func pull(_ host: String?) -> Bool? {
    reserve().map { begin($0, host: host, priority: .normal) }
  }
}
