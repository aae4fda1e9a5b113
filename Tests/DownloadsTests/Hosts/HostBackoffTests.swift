import Testing

@testable import Downloads

@Suite struct HostBackoffTests {
  private var backoff = HostBackoff()
  private let policy = RetryPolicy(limit: 3, base: .seconds(1), cap: .seconds(30), maxWait: .seconds(120))

  /// Returns the end of the pause after a refusal.
  private mutating func refuse(_ retryAfter: Int? = nil, isLimit: Bool = false, at now: Int) -> Int? {
    let refusal = HostBackoff.PauseRequest(isLimit: isLimit, retryAfter: retryAfter.map { .seconds($0) })
    backoff.refuse(refusal, policy: policy, now: .seconds(now))
    return backoff.closedUntil.map { Int($0 / .seconds(1)) }
  }

  @Test(arguments: [(7, false), (100, false), (120, false), (121, true), (3600, true)])
  mutating func `A host that sends Retry-After is paused for exactly that long, however long it is`(
    seconds: Int, isTooLong: Bool
  ) {
    let end = refuse(seconds, at: 10)
    #expect(end == 10 + seconds)
    #expect(backoff.isTooLong == isTooLong)

    backoff.open(at: .seconds(9 + seconds))
    #expect(backoff.closedUntil != nil)
    backoff.open(at: .seconds(10 + seconds))
    #expect(backoff.closedUntil == nil && !backoff.isTooLong)
  }

  @Test mutating func `A longer pause replaces a shorter one, and a shorter one changes nothing`() {
    let ends = [refuse(7, at: 0), refuse(5, at: 1), refuse(9, at: 2)]
    #expect(ends == [7, 7, 11])
  }

  @Test(arguments: [
    (false, [nil, 2, 4, 8, 16, 30, 30, 30]), (true, [1, 2, 4, 8, 16, 30, 30, 30]),
  ])
  mutating func `A host that refuses is paused longer each time: from the first 429, or from the second 503`(
    isLimit: Bool, pauses: [Int?]
  ) {
    var (now, found): (Int, [Int?]) = (0, [])
    for _ in pauses {
      let end = refuse(isLimit: isLimit, at: now)
      found.append(end.map { $0 - now })
      now = end ?? now
      backoff.open(at: .seconds(now))
    }
    #expect(found == pauses)
  }

  @Test mutating func `Refusals of requests sent before the pause do not count`() {
    let ends = [refuse(at: 0), refuse(at: 0), refuse(at: 0), refuse(at: 1)]
    #expect(ends == [nil, 2, 2, 2])
    backoff.open(at: .seconds(2))
    let end = refuse(at: 2)
    #expect(end == 6)
  }

  @Test mutating func `A response that is not a refusal resets the count of refusals`() {
    _ = refuse(at: 0)
    backoff.accept()
    let end = refuse(at: 1)
    #expect(end == nil)
    #expect(!backoff.isIdle)
  }

  @Test mutating func `Pauses add up until the host serves a request`() {
    _ = refuse(100, at: 0)
    #expect(!backoff.isTooLong)
    backoff.open(at: .seconds(100))
    _ = refuse(100, at: 100)
    #expect(backoff.isTooLong)

    backoff.open(at: .seconds(200))
    backoff.accept()
    _ = refuse(100, at: 200)
    #expect(!backoff.isTooLong)
  }
}
