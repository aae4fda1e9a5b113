import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(5))) struct RobotsTableTests {
  private typealias Table = RobotsTable<String>
  private let start = ContinuousClock.now

  private func query(_ table: inout Table, _ host: String, _ waiter: String = "", after seconds: Int = 0) -> String {
    switch table.query(.init(scheme: .https, host: host), waiter, now: start + .seconds(seconds)) {
    case .known: "known"
    case .waits: "waits"
    case .mustFetch: "must fetch"
    }
  }

  @discardableResult
  private func finish(
    _ table: inout Table, _ host: String, _ rules: RobotsRules = .unavailable, after seconds: Int = 0
  ) -> [String] {
    table.finish(.init(scheme: .https, host: host), rules, now: start + .seconds(seconds))
  }

  @Test func `The first caller fetches, and the others wait for it`() {
    var table = Table()
    #expect(query(&table, "a", "1") == "must fetch")
    #expect(query(&table, "a", "2") == "waits")
    #expect(query(&table, "b", "3") == "must fetch")
    #expect(table.waiterCount == 3)
    #expect(finish(&table, "a") == ["1", "2"])
    #expect(query(&table, "a", "4") == "known")
    #expect(finish(&table, "a", .failed(.cancelled)) == [] && query(&table, "a") == "known")
    #expect(table.waiterCount == 1)
  }

  @Test func `Each scheme and each port has its own rules`() {
    var table = Table()
    _ = query(&table, "a")
    finish(&table, "a")
    #expect(query(&table, "a:8443") == "must fetch")
    guard case .mustFetch = table.query(.init(scheme: .http, host: "a"), "", now: start) else {
      Issue.record("The rules of https apply to http.")
      return
    }
  }

  @Test func `Rules are reused for one day, those of a failing server for 5 minutes, and a failure for one`() {
    var table = Table()
    for host in ["a", "b", "c", "d"] { _ = query(&table, host) }
    finish(&table, "a")
    finish(&table, "b", .unreachable(status: 503))
    finish(&table, "c", .failed(FetchFailure(.timeoutTotal, "")))
    finish(&table, "d", .failed(.cancelled))

    #expect(query(&table, "d") == "must fetch")
    #expect(query(&table, "c", after: 59) == "known")
    #expect(query(&table, "c", after: 60) == "must fetch")
    #expect(query(&table, "b", after: 299) == "known")
    #expect(query(&table, "b", after: 300) == "must fetch")
    #expect(query(&table, "a", after: 86_399) == "known")
    #expect(query(&table, "a", after: 86_400) == "must fetch")
  }

  @Test func `At its capacity, the table removes expired origins, then the oldest`() {
    var table = Table()
    func add(_ host: String, _ rules: RobotsRules = .unavailable, after seconds: Int) {
      _ = query(&table, host, after: seconds)
      finish(&table, host, rules, after: seconds)
    }
    add("failing", .unreachable(status: 500), after: 100)
    for number in 1..<Table.capacity { add("\(number)", after: number) }
    #expect(table.count == Table.capacity)

    add("new", after: 5000)
    #expect(table.count == Table.capacity && query(&table, "1", after: 5000) == "known")

    add("newer", after: 5000)
    #expect(table.count == Table.capacity && query(&table, "1", after: 5000) == "must fetch")
    #expect(query(&table, "2", after: 5000) == "known" && query(&table, "new", after: 5000) == "known")
  }

  @Test func `Large files are removed before they fill the memory`() throws {
    var table = Table()
    let text = "User-agent: *\n" + String(repeating: "Disallow:a\n", count: 40_000)
    let file = RobotsFile(text.utf8, productToken: "thumbs")
    let count = Table.maxBytes / file.byteCount
    for number in 0...count {
      _ = query(&table, "\(number)", after: number)
      finish(&table, "\(number)", .file(file), after: number)
    }
    #expect(count < Table.capacity && table.count == count)
    #expect(query(&table, "0", after: count) == "must fetch" && query(&table, "1", after: count) == "known")
  }

  @Test func `New rules of an origin replace the old ones`() {
    var table = Table()
    for seconds in [0, 86_400] {
      #expect(query(&table, "a", after: seconds) == "must fetch")
      finish(&table, "a", after: seconds)
    }
    #expect(table.count == 1 && query(&table, "a", after: 100_000) == "known")
  }
}
