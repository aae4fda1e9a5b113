import Testing

@testable import Downloads

@Suite struct KnownAddressesTests {
  private let key = KnownAddresses.Key(host: "a.test", port: 80)
  private let other = KnownAddresses.Key(host: "a.test", port: 443)
  private let now = ContinuousClock.now

  /// Returns a table with the entry of one transfer, which has got as far as its connection.
  private func known() -> KnownAddresses {
    var known = KnownAddresses()
    if let ticket = known.ticket(for: key, IPAddress.loopback, now: now) { known.load(ticket) }
    return known
  }

  @Test func `IP addresses that libcurl has read are not set again`() {
    var known = known()

    let (again, elsewhere) = (
      known.ticket(for: key, IPAddress.loopback, now: now), known.ticket(for: other, IPAddress.loopback, now: now)
    )

    #expect(again == nil && elsewhere != nil)
  }

  @Test func `IP addresses of a transfer that ended early are set again`() {
    var known = KnownAddresses()

    let first = known.ticket(for: key, IPAddress.loopback, now: now)
    let second = known.ticket(for: key, IPAddress.loopback, now: now)

    #expect(first != nil && second != nil)
  }

  @Test func `Changed and old IP addresses are set again`() {
    var (changed, old) = (known(), known())

    let first = changed.ticket(for: key, [IPAddress.loopback[0]], now: now)
    let second = old.ticket(for: key, IPAddress.loopback, now: now + KnownAddresses.lifetime)

    #expect(first != nil && second != nil)
  }

  @Test func `An entry that another transfer has replaced does not count`() throws {
    var known = KnownAddresses()

    let first = known.ticket(for: key, [IPAddress.loopback[0]], now: now)
    _ = known.ticket(for: key, IPAddress.loopback, now: now)
    known.load(try #require(first))
    let again = known.ticket(for: key, IPAddress.loopback, now: now)

    #expect(again != nil)
  }

  @Test func `The number of entries is bounded`() {
    var known = known()

    for port in 1...KnownAddresses.capacity {
      _ = known.ticket(for: .init(host: "b.test", port: port), IPAddress.loopback, now: now)
    }
    let again = known.ticket(for: key, IPAddress.loopback, now: now)

    #expect(again != nil)
  }
}
