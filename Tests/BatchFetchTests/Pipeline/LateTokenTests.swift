import Testing

@testable import BatchFetch

@Suite struct LateTokenTests {
  enum Event: CaseIterable, Sendable {
    case arrive, end, cancel
  }

  /// Every order of the three events after a piece began, and those without one of the last two.
  static let orders: [[Event]] = [
    [.arrive], [.arrive, .end], [.end, .arrive], [.arrive, .cancel], [.cancel, .arrive], [.arrive, .end, .cancel],
    [.arrive, .cancel, .end], [.end, .arrive, .cancel], [.end, .cancel, .arrive], [.cancel, .arrive, .end],
    [.cancel, .end, .arrive],
  ]

  @Test(arguments: orders) func `A token is cancelled while its piece runs, and let go when it has ended`(
    order: [Event]
  ) {
    var token = LateToken<String>()
    let round = token.begin()
    var cancelled: [String] = []
    for event in order {
      switch event {
      case .arrive: if token.arrive("a", of: round) { cancelled.append("a") }
      case .end: _ = token.end(round)
      case .cancel: if let running = token.cancel() { cancelled.append(running) }
      }
    }
    let end = order.firstIndex(of: .end) ?? order.count
    let isReached = order[..<end].contains(.cancel) && order[..<end].contains(.arrive)
    #expect(cancelled == (isReached ? ["a"] : []))
    #expect(token.current == (order.contains(.end) ? nil : "a"))
    #expect(token.isCancelled == order.contains(.cancel))
  }

  @Test(arguments: [true, false])
  func `The late token of a piece that has ended does not take the place of the next one`(isNextKnown: Bool) {
    var token = LateToken<String>()
    let first = token.begin()
    _ = token.end(first)
    let second = token.begin()
    let isCancelled = [isNextKnown && token.arrive("second", of: second), token.arrive("first", of: first)]
    #expect(isCancelled == [false, false] && token.current == (isNextKnown ? "second" : nil))
    // Nor does its end.
    let results = [token.end(first), token.cancel()]
    #expect(results == [nil, isNextKnown ? "second" : nil])
    let (isLateCancelled, ended) = (token.arrive("second", of: second), token.end(second))
    #expect(isLateCancelled && ended == "second" && token.current == nil)
  }
}
