import Testing

@testable import BatchFetch

@Suite struct NameTableTests {
  private typealias Table = NameTable<String>
  private let now = ContinuousClock.now
  private let addresses = [IPAddress("192.0.2.1"), IPAddress("192.0.2.2")].compactMap { $0 }

  /// What asking comes to: the addresses, or the state of the look-up that is waited for.
  private func ask(_ table: inout Table, _ host: String, _ waiter: String = "", after seconds: Int = 0) -> String {
    switch table.ask(host, waiter, now: now + .seconds(seconds)) {
    case .known(let addresses): addresses.map(\.description).joined(separator: " ")
    case .waits(_, let lookUp): "\(lookUp)"
    }
  }

  @Test func `Callers of one host share a look-up`() {
    var table = Table()
    #expect(ask(&table, "a", "1") == "new")
    #expect(ask(&table, "a", "2") == "queued")
    #expect(ask(&table, "b", "3") == "new")
    #expect(table.begin("a").map(\.waiter).sorted() == ["1", "2"])
    #expect(ask(&table, "a", "4") == "running")
    #expect(table.settle("a", .addresses(addresses), now: now).sorted() == ["1", "2", "4"])
    #expect(table.waiterCount == 1)
  }

  @Test func `Addresses are used again for a minute, and in their order`() {
    var table = Table()
    _ = ask(&table, "a")
    _ = table.settle("a", .addresses(addresses), now: now)
    #expect(ask(&table, "a", after: 59) == "192.0.2.1 192.0.2.2")
    #expect(ask(&table, "a", after: 60) == "new")
  }

  @Test(arguments: [HostResolution.notFound, .temporary, .addresses([])])
  func `A failure is not remembered`(resolution: HostResolution) {
    var table = Table()
    _ = ask(&table, "a")
    #expect(table.settle("a", resolution, now: now).count == 1)
    #expect(ask(&table, "a") == "new")
  }

  @Test func `Who waits no longer is told once, and the look-up goes on`() throws {
    var table = Table()
    guard case .waits(let ticket, .new) = table.ask("a", "1", now: now) else { throw FetchFailure.cancelled }
    #expect(table.leave(ticket) == "1")
    #expect(table.leave(ticket) == nil)
    #expect(ask(&table, "a", "2") == "queued")
    #expect(table.settle("a", .addresses(addresses), now: now) == ["2"])
    #expect(table.leave(ticket) == nil)
  }

  @Test func `It never knows more hosts than it may, and forgets the old ones first`() {
    var table = Table()
    for index in 0..<Table.capacity {
      _ = ask(&table, "\(index)")
      _ = table.settle("\(index)", .addresses(addresses), now: now + .seconds(index == 0 ? 30 : 0))
    }
    _ = ask(&table, "one more", after: 70)
    _ = table.settle("one more", .addresses(addresses), now: now + .seconds(70))
    #expect(ask(&table, "0", after: 71) != "new")
    #expect(ask(&table, "1", after: 71) == "new")
    #expect(ask(&table, "one more", after: 71) != "new")
  }
}
