import Testing

@testable import Downloads

@Suite struct HostBreakerTests {
  private var breaker = HostBreaker(maxFailures: 3)

  private mutating func fail(_ count: Int = 1, isProbe: Bool = false, at now: Int = 0) {
    for _ in 0..<count { breaker.failed(isProbe: isProbe, now: .seconds(now)) }
  }

  @Test mutating func `A host is suspected after failures in a row, and not before`() {
    fail(2)
    #expect(breaker.limit == nil && !breaker.isIdle)
    fail(at: 5)
    #expect(breaker.phase == .suspected(until: .seconds(6)) && breaker.limit == 0)
  }

  @Test mutating func `One success between failures starts the count again`() {
    fail(2)
    breaker.reached()
    fail(2)
    #expect(breaker.phase == .closed)
  }

  @Test mutating func `A suspected host gets one probe when its pause is over`() {
    fail(3)
    breaker.advance(to: .milliseconds(999))
    #expect(breaker.limit == 0)
    breaker.advance(to: .seconds(1))
    #expect(breaker.phase == .probing(wasDead: false) && breaker.limit == 1)
  }

  @Test mutating func `A probe that reaches the host ends the suspicion`() {
    fail(3)
    breaker.advance(to: .seconds(1))
    breaker.reached()
    #expect(breaker.isIdle)
  }

  @Test mutating func `Probes that fail make the host dead, longer each time`() {
    fail(3)
    var (now, pauses) = (1, [Int]())
    for _ in 0..<6 {
      breaker.advance(to: .seconds(now))
      fail(isProbe: true, at: now)
      #expect(breaker.isDead && breaker.limit == 0)
      let end = breaker.pauseEnd.map { Int($0 / .seconds(1)) } ?? 0
      pauses.append(end - now)
      now = end
    }
    #expect(pauses == [15, 30, 60, 120, 240, 240])
  }

  @Test mutating func `Failures of requests that began before the suspicion do not replace the probe`() {
    fail(3)
    fail(3)
    #expect(breaker.phase == .suspected(until: .seconds(1)))
    breaker.advance(to: .seconds(1))
    fail(at: 2)
    #expect(breaker.phase == .probing(wasDead: false))
  }

  @Test mutating func `Any request that reaches a dead host ends its death`() {
    fail(3)
    breaker.advance(to: .seconds(1))
    fail(isProbe: true, at: 2)
    breaker.reached()
    #expect(breaker.isIdle)
  }

  @Test(arguments: [false, true]) mutating func `A canceled probe is followed by another one at once`(wasDead: Bool) {
    fail(3)
    breaker.advance(to: .seconds(1))
    if wasDead {
      fail(isProbe: true, at: 1)
      breaker.advance(to: .seconds(100))
    }
    breaker.probeAbandoned(now: .seconds(100))
    #expect(breaker.limit == 0 && breaker.isDead == wasDead)
    breaker.advance(to: .seconds(100))
    #expect(breaker.phase == .probing(wasDead: wasDead))
  }

  @Test func `Without a limit of failures no host is suspected`() {
    var breaker = HostBreaker(maxFailures: nil)
    for _ in 0..<1000 { breaker.failed(isProbe: false, now: .zero) }
    #expect(breaker.phase == .closed)
  }
}
