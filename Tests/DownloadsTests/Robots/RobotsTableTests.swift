import DownloadSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct RobotsTableTests {
  private typealias Table = RobotsTable<String>

  private func key(_ host: String) -> Table.Key {
    .init(scheme: .https, host: host, productToken: "thumbs", addresses: .noLinkLocal)
  }

  private func query(_ table: inout Table, _ host: String, _ waiter: String = "", after seconds: Int = 0) -> String {
    switch table.query(key(host), waiter, now: .seconds(seconds)) {
    case .known: "known"
    case .waits: "waits"
    case .mustFetch: "must fetch"
    }
  }

  @discardableResult
  private func finish(
    _ table: inout Table, _ host: String, _ rules: RobotsRules = .unavailable, after seconds: Int = 0
  ) -> [String] {
    table.finish(key(host), rules, now: .seconds(seconds))
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
    guard
      case .mustFetch = table.query(
        .init(scheme: .http, host: "a", productToken: "thumbs", addresses: .noLinkLocal), "", now: .zero)
    else {
      Issue.record("The rules of https apply to http.")
      return
    }
  }

  @Test func `Each crawler has its own rules`() {
    var table = Table()
    _ = query(&table, "a")
    finish(&table, "a")
    guard
      case .mustFetch = table.query(
        .init(scheme: .https, host: "a", productToken: "MyBot", addresses: .noLinkLocal), "", now: .zero)
    else {
      Issue.record("The rules of one crawler apply to another.")
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

  @Test func `At its capacity, the table removes expired origins, then the oldest eighth`() {
    var table = Table()
    func add(_ host: String, _ rules: RobotsRules = .unavailable, after seconds: Int) {
      _ = query(&table, host, after: seconds)
      finish(&table, host, rules, after: seconds)
    }
    for number in 1..<Table.capacity { add("\(number)", after: number / 100) }
    add("failing", .unreachable(status: 500), after: 1000)
    #expect(table.count == Table.capacity && query(&table, "1", after: 1000) == "known")

    add("new", after: 1300)
    #expect(table.count == Table.capacity / 8 * 7)
    for host in ["1", "\(Table.capacity / 8 - 200)", "failing"] {
      #expect(query(&table, host, after: 1300) == "must fetch", "\(host)")
    }
    for host in ["\(Table.capacity / 8 + 200)", "new"] {
      #expect(query(&table, host, after: 1300) == "known", "\(host)")
    }
  }

  @Test func `A list of 6,000 hosts in turn needs one fetch for each`() {
    var (table, fetches) = (Table(), 0)
    for seconds in [0, 1, 2] {
      for number in 0..<6000 where query(&table, "\(number)", after: seconds) == "must fetch" {
        fetches += 1
        finish(&table, "\(number)", after: seconds)
      }
    }
    #expect(fetches == 6000)
  }

  @Test func `Large files are removed before they fill the memory`() throws {
    var table = Table()
    let text = "User-agent: *\n" + String(repeating: "Disallow:a\n", count: 40_000)
    let file = RobotsFile(text.utf8, productToken: "thumbs")
    let (count, rest) = (Table.maxBytes / file.byteCount, Table.maxBytes / 8 * 7 / file.byteCount)
    for number in 0...count {
      _ = query(&table, "\(number)", after: number)
      finish(&table, "\(number)", .file(file), after: number)
    }
    #expect(count < Table.capacity && table.count == rest)
    let oldest = count + 1 - rest
    #expect(query(&table, "\(oldest - 1)", after: count) == "must fetch")
    #expect(query(&table, "\(oldest)", after: count) == "known")
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
