import Testing

@testable import Downloads

@Suite struct NameTableTests {
  private typealias Table = NameTable<String>
  private let now = ContinuousClock.now
  private let addresses = [IPAddress("192.0.2.1"), IPAddress("192.0.2.2")].compactMap { $0 }

  /// Resolves `host` and returns its addresses, or the state of the lookup for which the waiter waits.
  private func resolve(_ table: inout Table, _ host: String, _ waiter: String = "", after seconds: Int = 0) -> String {
    switch table.resolve(host, waiter, now: now + .seconds(seconds)) {
    case .known(let resolution): text(of: resolution)
    case .old(let resolution): "old \(text(of: resolution))"
    case .waits(_, let lookUp): "\(lookUp)"
    }
  }

  private func text(of resolution: HostResolution) -> String {
    guard case .addresses(let addresses) = resolution else { return "\(resolution)" }
    return addresses.map(\.description).joined(separator: " ")
  }

  @Test func `Callers of one host share a lookup`() {
    var table = Table()

    #expect(resolve(&table, "a", "1") == "new")
    #expect(resolve(&table, "a", "2") == "queued")
    #expect(resolve(&table, "b", "3") == "new")
    #expect(table.begin("a").map(\.waiter).sorted() == ["1", "2"])
    #expect(resolve(&table, "a", "4") == "running")
    #expect(table.finish("a", .addresses(addresses), now: now).sorted() == ["1", "2", "4"])
    #expect(table.waiterCount == 1)
  }

  @Test func `Addresses are reused in their order for one minute`() {
    var table = Table()
    _ = resolve(&table, "a")
    _ = table.finish("a", .addresses(addresses), now: now)

    #expect(resolve(&table, "a", after: 59) == "192.0.2.1 192.0.2.2")
    #expect(resolve(&table, "a", after: 660) == "new")
  }

  @Test(arguments: [HostResolution.temporary, .addresses([])])
  func `Old addresses are used during one new lookup, and if that fails`(resolution: HostResolution) {
    var table = Table()
    _ = resolve(&table, "a")
    _ = table.finish("a", .addresses(Array(addresses.prefix(1))), now: now)

    #expect(resolve(&table, "a", after: 60) == "old 192.0.2.1")
    #expect(resolve(&table, "a", after: 61) == "192.0.2.1")
    #expect(table.finish("a", resolution, now: now + .seconds(62)) == [])
    #expect(resolve(&table, "a", after: 63) == "old 192.0.2.1")
    #expect(table.finish("a", .addresses(addresses), now: now + .seconds(64)) == [])
    #expect(resolve(&table, "a", after: 65) == "192.0.2.1 192.0.2.2")
  }

  @Test func `A host that does not exist is not looked up again for one minute`() {
    var table = Table()
    _ = resolve(&table, "a")
    _ = table.finish("a", .notFound, now: now)

    #expect(resolve(&table, "a", after: 59) == "notFound")
    #expect(resolve(&table, "a", after: 60) == "new")
  }

  @Test(arguments: [HostResolution.temporary, .addresses([])])
  func `A temporary failure is not kept`(resolution: HostResolution) {
    var table = Table()
    _ = resolve(&table, "a")

    #expect(table.finish("a", resolution, now: now).count == 1)
    #expect(resolve(&table, "a") == "new")
  }

  @Test func `A waiter that leaves is returned once, and the lookup continues`() throws {
    var table = Table()
    guard case .waits(let ticket, .new) = table.resolve("a", "1", now: now) else { throw FetchFailure.cancelled }

    #expect(table.leave(ticket) == "1")
    #expect(table.leave(ticket) == nil)
    #expect(resolve(&table, "a", "2") == "queued")
    #expect(table.finish("a", .addresses(addresses), now: now) == ["2"])
    #expect(table.leave(ticket) == nil)
  }

  @Test func `At its capacity, the table removes expired hosts first`() {
    var table = Table()
    for index in 0..<Table.capacity {
      _ = resolve(&table, "\(index)")
      _ = table.finish("\(index)", .addresses(addresses), now: now + .seconds(index == 0 ? 30 : 0))
    }

    _ = resolve(&table, "one more", after: 70)
    _ = table.finish("one more", .addresses(addresses), now: now + .seconds(70))

    #expect(resolve(&table, "0", after: 71) != "new")
    #expect(resolve(&table, "1", after: 71) == "new")
    #expect(resolve(&table, "one more", after: 71) != "new")
  }
}
