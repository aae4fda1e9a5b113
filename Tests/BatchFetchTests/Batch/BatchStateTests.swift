import Testing

@testable import BatchFetch

@Suite struct BatchStateTests {
  @Test func `The pulling is called again only when it stopped for want of room, and once`() {
    var state = BatchState(window: 2)
    let first = state.reserve()
    // Still pulling: it will see the free place itself. A call for each would pile up behind a source that blocks.
    let whilePulling = state.release()
    let next = [state.reserve(), state.reserve(), state.reserve()]
    let afterStop = [state.release(), state.release()]
    #expect(first == 0 && next == [1, 2, nil])
    #expect(!whilePulling)
    #expect(afterStop == [true, false])
  }

  @Test func `A large window is filled again when an eighth of it is free`() {
    var state = BatchState(window: 16)
    while state.reserve() != nil {}
    let released = (0..<16).map { _ in state.release() }
    #expect(released.firstIndex(of: true) == 2 && released.count { $0 } == 1)
  }

  @Test func `Nothing is pulled again after the end`() {
    var state = BatchState(window: 1)
    let first = state.reserve()
    let isFirstClose = state.close()
    let afterEnd = state.reserve()
    let isCalled = state.release()
    #expect(first == 0 && isFirstClose && afterEnd == nil && !isCalled)
  }
}
