import Foundation
import GRDB
import TestSupport
import Testing

@Suite("thumbs fetch: interrupted runs", .timeLimit(.minutes(20))) struct InterruptTests {
  /// Returns a fixture whose server responds to the first `done` paths at once, and to the others when `gate` opens.
  private static func fixture(_ gate: Gate, done: Int) throws -> CommandFixture {
    try CommandFixture { request in
      let number = Int(request.target.filter(\.isNumber)) ?? 0
      return number < done ? .icon(number) : .icon(number).after(gate)
    }
  }

  private static func paths(_ count: Int) -> [String] { (0..<count).map { "/\($0).png" } }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func `A signal ends the run cleanly, keeping finished rows and canceling the others`(
    signal: Int32, code: Int32
  ) async throws {
    let gate = Gate()
    let fixture = try Self.fixture(gate, done: 5)
    let list = try fixture.list(Self.paths(30))
    let command = try fixture.start(fixture.fetchArguments([list], report: "-"))

    await command.output.waitForLines(5)
    await fixture.server.waitForRequests(6)
    command.send(signal)
    let result = await command.result()
    gate.open()

    #expect(result.ending == .exit(code))
    #expect(result.errors.contains("5 ok, 0 failed, "))

    let rows = try ReportedRow.all(in: result.output)
    // Rows that were not yet read from the manifest are not in the report.
    #expect(rows.prefix(5).map(\.status) == Array(repeating: "ok", count: 5))
    #expect(rows.count > 5 && rows.dropFirst(5).allSatisfy { $0.status == "cancelled" && $0.code == "cancelled" })
    #expect(try fixture.outputs() == Self.paths(5).map { String($0.dropFirst()) })
    for row in rows.prefix(5) {
      let bytes = try fixture.output(try #require(row.paths.first))
      #expect(ImageFile(bytes) != nil && bytes.count == row.lengths.first)
    }
  }

  /// An event that ends a run early.
  enum End: CaseIterable { case signal, readerGone }

  @Test(arguments: End.allCases)
  func `A run that is stopped while rendering always ends with its exit code`(end: End) async throws {
    let photo = SampleImage.jpeg(width: 1200, height: 900)
    let gate = Gate()
    defer { gate.open() }
    // One row never finishes, so that no run is complete before it is stopped.
    let fixture = try CommandFixture { .http(200, [:], photo).after($0.target == "/0.png" ? gate : .opened) }
    let list = try fixture.list(Self.paths(24))
    for _ in 0..<15 {
      let command = try fixture.start(
        fixture.fetchArguments([list, "--no-cache", "-q"], report: "-"),
        output: end == .signal ? .pipe : .reader(lines: 1))
      await command.output.waitForLines(1)
      if end == .signal { command.send(SIGTERM) }
      #expect(await command.result().ending == .exit(end == .signal ? 143 : 74))
    }
  }

  @Test func `A hangup ends the run like other signals unless it is ignored`() async throws {
    let gate = Gate()
    let fixture = try Self.fixture(gate, done: 1)
    let list = try fixture.list(Self.paths(2))
    let command = try fixture.start(fixture.fetchArguments([list, "--summary", "sum.json"], report: "-"))

    await command.output.waitForLines(1)
    await fixture.server.waitForRequests(2)
    command.send(SIGHUP)

    #expect(await command.result().ending == .exit(129))
    #expect(try fixture.object("sum.json")["exit"] as? Int == 129)

    let ignoring = try fixture.start(fixture.fetchArguments([list], report: "-"), setup: "trap '' HUP INT")
    await fixture.server.waitForRequests(3)
    for signal in [SIGHUP, SIGINT] { ignoring.send(signal) }
    gate.open()

    #expect(await ignoring.result().ending == .exit(0))
  }

  @Test func `A second signal ends a run that is blocked on standard error`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<3000).map { "/\(String(repeating: "x", count: 200))\($0).png" })
    let command = try fixture.start(
      fixture.fetchArguments([list, "-v", "--size", "8", "--progress", "plain"]), errors: .unread)

    await fixture.server.waitForRequests(1000)
    command.send(SIGINT, then: SIGTERM)

    // The first signal alone would end the run after 30 seconds, with its own status.
    let ending = await command.result().ending
    #expect(ending == .exit(143))
  }

  @Test func `A run that did not read all of its rows has a partial report and summary`() async throws {
    let gate = Gate()
    let fixture = try Self.fixture(gate, done: 5)
    let list = try fixture.list(Self.paths(2000))
    let command = try fixture.start(fixture.fetchArguments(["-", "--summary", "sum.json"]), input: .pipe)
    let urls = try fixture.text(list).split(separator: "\n", omittingEmptySubsequences: false)

    command.write(urls.prefix(30).joined(separator: "\n") + "\n")
    await fixture.server.waitForRequests(20)
    command.send(SIGTERM)
    let result = await command.result()
    gate.open()

    #expect(result.ending == .exit(143))
    #expect(result.errors.contains("stopped before every row was read"))

    let rows = try fixture.report()
    #expect(rows.count >= 20 && rows.count < 2000)
    #expect(try ReportedRow.isPartial(fixture.text("report.jsonl")))

    let summary = try fixture.object("sum.json")
    #expect(summary["exit"] as? Int == 143 && summary["complete"] as? Bool == false)

    let retry = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache, "--summary", "sum2.json")
    #expect(retry.ending == .exit(75))
    #expect(retry.errors.contains("does not contain every row"))
    #expect(try fixture.object("sum2.json")["complete"] as? Bool == false)

    let whole = try await fixture.fetch(list, "--summary", "sum.json")
    #expect(whole.ending == .exit(0))
    #expect(try !ReportedRow.isPartial(fixture.text("report.jsonl")) && fixture.report().count == 2000)
    #expect(try fixture.object("sum.json")["complete"] as? Bool == true)
  }

  @Test(arguments: [1, 2])
  func `An interrupted run clears its progress from the screen`(signals: Int) async throws {
    let gate = Gate()
    let fixture = try Self.fixture(gate, done: 0)
    let arguments = fixture.fetchArguments([try fixture.list(["/0.png"]), "--progress", "auto"])
    let command = try fixture.start(arguments, environment: ["TERM": "xterm"], errors: .terminal)

    await command.errors.waitForText("0 of 1")
    for _ in 0..<signals { command.send(SIGINT) }
    let result = await command.result()
    gate.open()

    #expect(result.ending == .exit(130))

    var screen = ScreenModel(width: 80, narrowing: .wraps)
    screen.show(result.errors.replacing("\r\n", with: "\n"))

    #expect(screen.rows.allSatisfy { !$0.contains("[") }, "\(screen.rows)")
    #expect(screen.unknown == [])
  }

  @Test func `A signal ends a run that waits for standard input`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(fixture.fetchArguments(["-"], report: "-"), input: .pipe)

    command.write(fixture.server.url("/a.png") + "\n")
    await command.output.waitForLines(1)
    command.send(SIGINT)
    let result = await command.result()

    #expect(result.ending == .exit(130))
    // A forced exit, after 30 seconds, would print no summary.
    #expect(result.errors.hasPrefix("1 item: 1 ok, 0 failed"))
    #expect(try ReportedRow.all(in: result.output).map(\.status) == ["ok"])
  }

  @Test func `After kill -9, the same command finishes the run without downloading stored images again`() async throws {
    let gate = Gate()
    let fixture = try Self.fixture(gate, done: 20)
    let list = try fixture.list(Self.paths(40))
    let command = try fixture.start(fixture.fetchArguments([list], report: "-"))

    await command.output.waitForLines(20)
    let stored = try await Self.storedURLs(of: fixture, atLeast: 10)
    command.send(SIGKILL)

    #expect(await command.result().ending == .signal(SIGKILL))

    gate.open()

    let second = try await fixture.fetch(list)

    #expect(second.ending == .exit(0))
    #expect(try fixture.report().map(\.status) == Array(repeating: "ok", count: 40))

    let counts = fixture.requestCounts
    #expect(stored.filter { counts[String($0.dropFirst(fixture.server.url("").count))] != 1 } == [])
    #expect(try fixture.outputs() == Self.paths(40).map { String($0.dropFirst()) }.sorted())

    let verdict = try await DatabaseQueue(path: fixture.cache + "/g000001/cache.db").read {
      try String.fetchAll($0, sql: "PRAGMA integrity_check")
    }
    #expect(verdict == ["ok"])
  }

  /// Returns the URLs in the cache as soon as there are at least `count`. Each poll starts a process, which gives the
  /// writer enough time without a sleep.
  private static func storedURLs(of fixture: CommandFixture, atLeast count: Int) async throws -> [String] {
    for _ in 0..<200 {
      let listing = try await fixture.cacheCommand("ls", "--format", "jsonl", "--full-urls").output
      let urls = try listing.split(separator: "\n").compactMap { line in
        (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["url"] as? String
      }
      if urls.count >= count { return urls }
    }
    Issue.record("The first items did not reach the disk.")
    return []
  }
}
