import Testing

@testable import BatchFetch

@Suite struct RemoteBreakerTests {
  /// A breaker that the failures of its first requests have opened at time zero.
  private static var open: RemoteBreaker {
    var breaker = RemoteBreaker()
    for _ in 0..<RemoteBreaker.maxFailures { breaker.ended(.request, .failure, at: .zero) }
    return breaker
  }

  @Test func `The breaker opens after five failures in a row`() {
    var breaker = RemoteBreaker()
    for _ in 0..<4 {
      breaker.ended(.request, .failure, at: .zero)
      #expect(!breaker.isOpen)
      #expect(breaker.permit(at: .zero) == .request)
    }
    breaker.ended(.request, .failure, at: .zero)
    #expect(breaker.isOpen)
    #expect(breaker.permit(at: .zero) == nil)
  }

  @Test func `A success in between keeps the breaker closed, and a canceled request changes nothing`() {
    var breaker = RemoteBreaker()
    for _ in 0..<3 {
      for _ in 0..<4 {
        breaker.ended(.request, .failure, at: .zero)
        breaker.ended(.request, .abandoned, at: .zero)
      }
      breaker.ended(.request, .success, at: .zero)
    }
    #expect(!breaker.isOpen)
  }

  @Test func `After thirty seconds, one probe is let through and no other request`() {
    var breaker = Self.open
    #expect(breaker.permit(at: .seconds(29.999)) == nil)
    #expect(breaker.permit(at: .seconds(30)) == .probe)
    #expect(breaker.permit(at: .seconds(1000)) == nil)
  }

  @Test func `A successful probe closes the breaker, and a failed one keeps it open for another thirty seconds`() {
    var breaker = Self.open
    _ = breaker.permit(at: .seconds(30))
    breaker.ended(.probe, .failure, at: .seconds(31))
    #expect(breaker.permit(at: .seconds(60.999)) == nil)
    #expect(breaker.permit(at: .seconds(61)) == .probe)
    breaker.ended(.probe, .success, at: .seconds(62))
    #expect(!breaker.isOpen)
    #expect(breaker.permit(at: .seconds(62)) == .request)
    breaker.ended(.request, .failure, at: .seconds(62))
    #expect(!breaker.isOpen)
  }

  @Test func `After a canceled probe, the next request is a probe`() {
    var breaker = Self.open
    _ = breaker.permit(at: .seconds(30))
    breaker.ended(.probe, .abandoned, at: .seconds(31))
    #expect(breaker.permit(at: .seconds(31)) == .probe)
  }

  @Test(arguments: [RemoteBreaker.Verdict.success, .failure, .abandoned])
  func `A request that began before the breaker opened does not change it`(verdict: RemoteBreaker.Verdict) {
    var breaker = Self.open
    breaker.ended(.request, verdict, at: .seconds(5))
    #expect(breaker.permit(at: .seconds(29)) == nil)
    #expect(breaker.permit(at: .seconds(30)) == .probe)
    breaker.ended(.request, verdict, at: .seconds(31))
    #expect(breaker.isOpen)
    #expect(breaker.permit(at: .seconds(32)) == nil)
  }
}
