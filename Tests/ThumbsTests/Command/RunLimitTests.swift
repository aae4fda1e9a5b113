import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: limits of a run", .timeLimit(.minutes(20))) struct RunLimitTests {
  /// Returns a fixture whose server responds to the first `done` paths at once, and to the others when `gate` opens.
  private static func fixture(_ gate: Gate, done: Int = 0) throws -> CommandFixture {
    try CommandFixture { request in
      let number = Int(request.target.filter(\.isNumber)) ?? 0
      return number < done ? .icon(number) : .icon(number).after(gate)
    }
  }

  private static func paths(_ count: Int) -> [String] { (0..<count).map { "/\($0).png" } }

  /// Returns the message of each row that was canceled.
  private static func reasons(_ report: String) throws -> [String] {
    try report.split(separator: "\n").compactMap { line in
      let row = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return row?["status"] as? String == "cancelled" ? row?["message"] as? String ?? "" : nil
    }
  }

  @Test func `At the time limit, every row that is left ends as canceled, and a retry fetches it`() async throws {
    let gate = Gate()
    let fixture = try Self.fixture(gate)
    let list = try fixture.list(Self.paths(600))

    let result = try await fixture.fetch(list, "--max-run-time", "5", "--summary", "sum.json")
    gate.open()

    #expect(result.ending == .exit(75))
    #expect(result.errors.contains("stopped at the limit of 5 s (--max-run-time)"), "\(result.errors)")
    #expect(!result.errors.contains("stopped before every row was read"))
    // At most 64 transfers run at once, and none of them ends before the limit.
    #expect(fixture.server.requests.count <= 64)

    let text = try fixture.text("report.jsonl")
    #expect(try fixture.report().map(\.index) == Array(0..<600) && !ReportedRow.isPartial(text))
    #expect(try fixture.report().allSatisfy { $0.code == "cancelled" && $0.retryable == true })
    #expect(try Set(Self.reasons(text)) == ["The run reached its limit of 5 s (--max-run-time)."])

    let summary = try fixture.object("sum.json")
    #expect(summary["exit"] as? Int == 75 && summary["complete"] as? Bool == true)
    #expect(summary["limit"] as? String == "max-run-time")

    let retry = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache)
    #expect(retry.ending == .exit(0))
    #expect(try fixture.outputs().count == 600)
  }

  @Test func `At the byte limit, finished rows keep their outcome`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try Self.fixture(gate, done: 1)

    let result = try await fixture.fetch(
      fixture.list(Self.paths(300)), "--max-run-bytes", "10B", "--summary", "sum.json")

    #expect(result.ending == .exit(75))
    let rows = try fixture.report()
    #expect(rows.count == 300 && rows[0].status == "ok")
    #expect(rows.dropFirst().allSatisfy { $0.status == "cancelled" })
    #expect(
      try Set(Self.reasons(fixture.text("report.jsonl"))) == ["The run reached its limit of 10 B (--max-run-bytes)."])
    #expect(try fixture.object("sum.json")["limit"] as? String == "max-run-bytes")
    #expect(try fixture.outputs() == ["0.png"])
  }

  @Test func `A limit that is reached when nothing is left has no effect`() async throws {
    let fixture = try CommandFixture()

    let result = try await fixture.fetch(
      fixture.list(["/0.png"]), "--max-run-bytes", "10B", "--max-run-time", "3600", "--summary", "sum.json")

    #expect(result.ending == .exit(0))
    #expect(try fixture.object("sum.json")["limit"] is NSNull)
  }

  /// A pipe that ends, or never ends.
  enum Pipe: CaseIterable { case ended, endless }

  @Test(arguments: Pipe.allCases)
  func `A run that reads a pipe ends soon after its limit`(pipe: Pipe) async throws {
    let (held, written) = (Gate(), Gate())
    defer { held.open() }
    // The run reaches its limit with the first row. A pipe that ends has ended by then.
    let fixture = try CommandFixture { request in .icon().after(request.target == "/0.png" ? written : held) }
    let rows = ["/0.png", "/1.png", "/1.png"].map { "echo \(fixture.server.url($0))" }
    let writer =
      switch pipe {
      case .ended: "(\(rows.joined(separator: ";"))) >rows; : >end"
      case .endless: ": >end; (\(rows[0]); while \(rows[1]); do sleep 0.2; done) >rows"
      }
    let end = fixture.directory.path("end")
    #expect(mkfifo(end, 0o600) == 0)
    Thread.detachNewThread {
      close(open(end, O_RDONLY))
      written.open()
    }
    let setup = "mkfifo rows; (\(writer)) >/dev/null 2>&1 & true"

    let result = try await fixture.start(
      fixture.fetchArguments(["rows", "--max-run-bytes", "1B"]), setup: setup
    ).result()

    #expect(result.ending == .exit(75))
    #expect(try ReportedRow.isPartial(fixture.text("report.jsonl")) == (pipe == .endless))
    #expect(result.errors.contains("stopped before every row was read") == (pipe == .endless))
    let statuses = try fixture.report().map(\.status)
    #expect(statuses.first == "ok" && statuses.dropFirst().allSatisfy { $0 == "cancelled" })
    if pipe == .ended { #expect(statuses.count == 3) }
  }

  @Test func `A run that waits for the next row of a pipe ends soon after its limit`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(
      fixture.fetchArguments(["-", "--max-run-time", "10"], report: "-"), input: .pipe)

    command.write(fixture.server.url("/1.png") + "\n")
    let result = await command.result()

    #expect(result.ending == .exit(75))
    #expect(try ReportedRow.all(in: result.output).count == 1 && ReportedRow.isPartial(result.output))
    let reason = "stopped at the limit of 10 s (--max-run-time)\n  stopped before every row was read"
    #expect(result.errors.contains(reason))
  }

  @Test(arguments: [["fetch", "-"], ["retry", "-"]])
  func `A run whose pipe is silent from the start ends at its limit and writes nothing`(
    arguments: [String]
  ) async throws {
    let fixture = try CommandFixture()

    let result = try await fixture.start(
      arguments + ["--max-run-time", "0.2", "--report", "report.jsonl"], input: .pipe
    ).result()

    #expect(result.ending == .exit(75))
    #expect(result.errors == "thumbs: The run reached its limit of 0.2 s (--max-run-time). No row was read.\n")
    #expect(try fixture.directory.files() == [])
  }

  @Test func `A retry in place that reaches its limit keeps the old lines of the rows that are left`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try CommandFixture { request in
      guard request.fields["x-retry"] != nil else { return .http(503) }
      return request.target == "/0.png" ? .icon() : .icon().after(gate)
    }
    let list = try fixture.list(Self.paths(3))

    #expect(try await fixture.fetch(list).ending == .exit(75))

    let left = try fixture.text("report.jsonl").split(separator: "\n").filter {
      $0.hasPrefix("{\"index\"") && !$0.contains("/0.png")
    }
    let retry = try await fixture.run(
      "retry", "report.jsonl", "--report", "report.jsonl", "--cache-dir", fixture.cache, "--header", "X-Retry: yes",
      "--max-run-bytes", "1B", "--timeout", "2400")

    #expect(retry.ending == .exit(75))
    #expect(retry.errors.contains("2 canceled") && retry.errors.contains("--max-run-bytes"))
    #expect(try fixture.report().map(\.status) == ["ok", "failed", "failed"])
    let after = try fixture.text("report.jsonl").split(separator: "\n")
    #expect(left.count == 2 && left.allSatisfy(after.contains))
  }

  @Test func `A signal after the limit decides about the exit status`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try Self.fixture(gate, done: 1)
    let (done, held) = (fixture.server.url("/0.png"), fixture.server.url("/1.png"))
    let writer = "(exec >rows 2>/dev/null; echo \(done); while echo \(held); do sleep 0.2; done) &"
    // Only after the limit does the second row end. The shell sends the signal at that moment: the run goes on for some
    // seconds at most, and this test may have to wait longer for its thread.
    let reader = "(read first; read second; kill -TERM $$; cat >/dev/null) <report & true"
    let command = try fixture.start(
      fixture.fetchArguments(["rows", "--max-run-bytes", "1B"], report: "report"),
      setup: "mkfifo rows report; \(writer) \(reader)")

    let result = await command.result()

    #expect(result.ending == .exit(143), "\(result)")
    #expect(result.errors.contains("stopped at the limit of 1 B (--max-run-bytes)"), "\(result)")
  }
}
