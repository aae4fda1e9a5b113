import DownloadSupport
import Testing

@testable import BatchFetch

@Suite struct RemoteBreakerTests {
  /// A breaker that the failures of its first requests have opened at time zero.
  private static var open: RemoteBreaker {
    var breaker = closed
    for _ in 0..<RemoteBreaker.maxFailures { breaker.ended(.request, .failure, at: .zero) }
    return breaker
  }
  private static let closed = RemoteBreaker(budget: .seconds(1))

  @Test func `The breaker opens after five failures in a row`() {
    var breaker = Self.closed
    for _ in 0..<4 {
      breaker.ended(.request, .failure, at: .zero)
      #expect(!breaker.isOpen)
      #expect(breaker.permit(at: .zero) == .request)
    }
    breaker.ended(.request, .failure, at: .zero)
    #expect(breaker.isOpen)
    #expect(breaker.permit(at: .zero) == nil)
  }

  @Test func `Five failures among twenty requests open the breaker, and canceled requests change nothing`() {
    var breaker = Self.closed
    for _ in 0..<4 {
      breaker.ended(.request, .failure, at: .zero)
      for _ in 0..<3 { breaker.ended(.request, .success, at: .zero) }
      for _ in 0..<40 { breaker.ended(.request, .abandoned, at: .zero) }
    }
    #expect(!breaker.isOpen)
    breaker.ended(.request, .failure, at: .zero)
    #expect(breaker.isOpen)
  }

  @Test func `Failures that more than nineteen requests have followed do not count`() {
    var breaker = Self.closed
    for _ in 0..<20 {
      for _ in 0..<4 { breaker.ended(.request, .failure, at: .zero) }
      for _ in 0..<16 { breaker.ended(.request, .success, at: .zero) }
    }
    #expect(!breaker.isOpen)
  }

  @Test func `A lookup costs its time beyond its worth, divided by the number of images in flight`() {
    var breaker = Self.closed
    breaker.looked(for: .milliseconds(110), isHit: false, among: 10, at: .zero)
    #expect(breaker.lost == .milliseconds(10))
    breaker.looked(for: .milliseconds(200), isHit: true, among: 2, at: .zero)
    #expect(breaker.lost == .milliseconds(60))
    // Nothing is in flight anymore.
    breaker.looked(for: .milliseconds(30), isHit: false, among: 0, at: .zero)
    #expect(breaker.lost == .milliseconds(80))
  }

  @Test func `Fast hits make up for what misses have cost, and no more`() {
    var breaker = Self.closed
    breaker.looked(for: .milliseconds(910), isHit: false, among: 1, at: .zero)
    for _ in 0..<5 { breaker.looked(for: .milliseconds(20), isHit: true, among: 1, at: .zero) }
    #expect(breaker.lost == .milliseconds(500))
    for _ in 0..<100 { breaker.looked(for: .milliseconds(20), isHit: true, among: 1, at: .zero) }
    #expect(breaker.lost == .zero)
  }

  @Test func `The breaker opens when lookups have cost more than the budget, whatever the requests return`() {
    var breaker = Self.closed
    for _ in 0..<8 {
      breaker.ended(.request, .success, at: .zero)
      breaker.looked(for: .milliseconds(510), isHit: false, among: 4, at: .zero)
    }
    #expect(breaker.lost == .seconds(1))
    #expect(!breaker.isOpen)
    breaker.looked(for: .milliseconds(11), isHit: false, among: 4, at: .seconds(3))
    #expect(breaker.isOpen)
    #expect(breaker.permit(at: .seconds(32.999)) == nil)
    #expect(breaker.permit(at: .seconds(33)) == .probe)
    breaker.ended(.probe, .success, at: .seconds(33))
    #expect(!breaker.isOpen)
    #expect(breaker.lost == .zero)
  }

  @Test func `The last uploads get the time that lookups have not cost, and none while the breaker is open`() {
    var breaker = Self.closed
    #expect(breaker.uploadTime(within: .seconds(2)) == .seconds(2))
    breaker.looked(for: .milliseconds(510), isHit: false, among: 1, at: .zero)
    #expect(breaker.uploadTime(within: .seconds(2)) == .milliseconds(1500))
    #expect(breaker.uploadTime(within: .milliseconds(100)) == .zero)
    #expect(Self.open.uploadTime(within: .seconds(2)) == .zero)
  }

  @Test func `Lookups that end after the breaker has opened count as lost but change nothing else`() {
    var breaker = Self.open
    breaker.looked(for: .seconds(60), isHit: false, among: 1, at: .seconds(10))
    #expect(breaker.lost > .seconds(59))
    #expect(breaker.permit(at: .seconds(30)) == .probe)
  }

  @Test func `Each time that the breaker opens, it stays open for twice as long, up to eight minutes`() {
    var (breaker, now) = (Self.closed, Duration.zero)
    for pause in [30, 60, 120, 240, 480, 480] {
      for _ in 0..<5 { breaker.ended(.request, .failure, at: now) }
      #expect(breaker.permit(at: now + .seconds(pause) - .milliseconds(1)) == nil)
      now += .seconds(pause)
      #expect(breaker.permit(at: now) == .probe)
      breaker.ended(.probe, .success, at: now)
    }
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
