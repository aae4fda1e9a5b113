import Testing

@testable import BatchFetch

@Suite struct BatchStateTests {
  @Test func `Pulling is resumed once, and only if it stopped because the window was full`() {
    var state = BatchState(window: 2)

    let first = state.reserve()
    // Pulling continues and finds the free place by itself. A call for each place would pile up behind a source that
    // blocks.
    let whilePulling = state.release()
    let next = [state.reserve(), state.reserve(), state.reserve()]
    let afterStop = [state.release(), state.release()]

    #expect(first == 0 && next == [1, 2, nil])
    #expect(!whilePulling)
    #expect(afterStop == [true, false])
  }

  @Test func `A large window is refilled once an eighth of it is free`() {
    var state = BatchState(window: 16)
    while state.reserve() != nil {}

    let released = (0..<16).map { _ in state.release() }

    #expect(released.firstIndex(of: true) == 2 && released.count { $0 } == 1)
  }

  @Test func `A closed batch pulls nothing more`() {
    var state = BatchState(window: 1)

    let first = state.reserve()
    let isFirstClose = state.close()
    let afterEnd = state.reserve()
    let isResumed = state.release()

    #expect(first == 0 && isFirstClose && afterEnd == nil && !isResumed)
  }
}
