import Testing

@testable import BatchFetch

@Suite struct HostPaceTests {
  private var pace = HostPace()
  private let policy = RetryPolicy(limit: 3, base: .seconds(1), cap: .seconds(30))

  private mutating func refuse(_ retryAfter: Int? = nil, at now: Int) -> Duration? {
    pace.refuse(retryAfter: retryAfter.map { .seconds($0) }, policy: policy, now: .seconds(now))
  }

  @Test mutating func `A host that sends Retry-After is paused for that long, up to the cap`() {
    let first = refuse(7, at: 10)
    #expect(first == .seconds(17))
    _ = pace.open(at: .seconds(17))
    let long = refuse(3600, at: 20)
    #expect(long == .seconds(50))
  }

  @Test mutating func `A longer pause replaces a shorter one, and a shorter one changes nothing`() {
    let ends = [refuse(7, at: 0), refuse(5, at: 1), refuse(9, at: 2)]
    #expect(ends == [.seconds(7), nil, .seconds(11)])
    let isOpen = [pace.open(at: .seconds(7)), pace.open(at: .seconds(11)), pace.open(at: .seconds(11))]
    #expect(isOpen == [false, true, false])
  }

  @Test mutating func `A Retry-After of zero causes no pause`() {
    let end = refuse(0, at: 5)
    #expect(end == nil && pace.closedUntil == nil)
  }

  @Test mutating func `A host that only refuses is paused from the second refusal on, longer each time`() {
    var ends: [Duration?] = []
    var now = 0
    for _ in 0..<8 {
      let end = refuse(at: now)
      ends.append(end.map { $0 - .seconds(now) })
      if let end, pace.open(at: end) { now = Int(end.components.seconds) }
    }
    #expect(
      ends == [nil, .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(30), .seconds(30), .seconds(30)])
  }

  @Test mutating func `Refusals of requests sent before the pause do not count`() {
    let ends = [refuse(at: 0), refuse(at: 0), refuse(at: 0), refuse(at: 1)]
    #expect(ends == [nil, .seconds(2), nil, nil])
    _ = pace.open(at: .seconds(2))
    let next = refuse(at: 2)
    #expect(next == .seconds(6))
  }

  @Test mutating func `A response that is not a refusal resets the count of refusals`() {
    _ = refuse(at: 0)
    pace.accept()
    let end = refuse(at: 1)
    #expect(end == nil)
  }
}
