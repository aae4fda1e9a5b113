import TestSupport
import Testing

@Suite("thumbs fetch: pipes and terminals", .timeLimit(.minutes(20))) struct StreamTests {
  @Test func `Rows on standard input are fetched before its end`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(fixture.fetchArguments(["-"], report: "-"), input: .pipe)

    command.write(fixture.server.url("/a.png") + "\n")
    await fixture.server.waitForRequests(1)
    await command.output.waitForLines(1)
    command.write(fixture.server.url("/b.png") + "\n" + fixture.server.url("/c.png"))
    command.closeInput()
    let result = await command.result()

    #expect(result.ending == .exit(0))
    #expect(try ReportedRow.all(in: result.output).map(\.paths) == [["a.png"], ["b.png"], ["c.png"]])
  }

  @Test func `Progress is drawn on a terminal and cleared at the end`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { _ in .icon().after(gate) }
    let arguments = fixture.fetchArguments([try fixture.list(["/a.png"]), "--progress", "auto"], report: "-")
    let command = try fixture.start(arguments, environment: ["TERM": "xterm"], errors: .terminal)

    await command.errors.waitForText("0 of 1")
    gate.open()
    let result = await command.result()

    #expect(result.ending == .exit(0))
    #expect(result.errors.contains("] 0 of 1") && result.errors.contains("\u{1B}[J\r"))
    // The bar is cleared last, and the summary follows on the same line.
    #expect(result.errors.contains("\r\u{1B}[J1 item: 1 ok"))
    #expect(!result.output.contains("\u{1B}"))
  }

  @Test(arguments: [["-q"], ["--progress", "none"], ["--progress", "plain"], ["-v"]])
  func `Output without a progress bar contains no escape code`(options: [String]) async throws {
    let fixture = try CommandFixture()
    let arguments = fixture.fetchArguments([try fixture.list(["/a.png", "/b.png"])] + options, report: "-")
    for errors in [RunningCommand.Output.pipe, .terminal] where options != ["-v"] || errors == .pipe {
      let command = try fixture.start(arguments, environment: ["TERM": "xterm"], errors: errors)
      let result = await command.result()
      #expect(result.ending == .exit(0))
      #expect(!(result.output + result.errors).contains("\u{1B}"))
      #expect(result.errors.isEmpty == (options == ["-q"]))
    }
  }

  @Test func `A quiet run with failed rows prints one line, so that cron sends it`() async throws {
    let fixture = try CommandFixture { $0.target.hasPrefix("/gone") ? .http(404) : .icon() }
    let list = try fixture.list(["/a.png", "/gone1.png", "/gone2.png"])
    let result = try await fixture.fetch(list, "-q")
    #expect(result.ending == .exit(1))
    #expect(result.errors == "thumbs: 2 of 3 rows failed: 2 http_404; see report.jsonl.\n")
    let retryable = try CommandFixture { _ in .http(503) }
    let busy = try await retryable.start(
      ["fetch", retryable.list(["/a.png"]), "-q", "--retries", "0", "--no-cache", "-o", "out"]
    ).result()
    #expect(busy.errors == "thumbs: 1 of 1 rows failed: 1 http_503. Some are worth retrying.\n")
  }

  @Test func `The -v option prints a line per row on standard error`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let result = try await fixture.fetch(try fixture.list(["/a.png", "/gone.png"]), "-v")
    let lines = Set(result.errorLines.map(String.init))

    #expect(lines.contains("ok network \(fixture.server.url("/a.png")) -> a.png"))
    #expect(lines.contains { $0.hasPrefix("failed http_404 \(fixture.server.url("/gone.png")) ") })
  }

  @Test func `A run whose report is closed early ends without a message`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/0.png" ? .icon() : .icon().after(gate) }
    let list = try fixture.list((0..<20).map { "/\($0).png" })
    let command = try fixture.start(
      fixture.fetchArguments([list, "-q"], report: "-"), output: .reader(lines: 1))

    await command.output.waitForEnd()
    gate.open()
    let result = await command.result()

    #expect(result.ending == .exit(74))
    #expect(result.errors.isEmpty)
    #expect(try fixture.outputs().allSatisfy { !$0.hasSuffix(".tmp") })
  }

  @Test(arguments: ["<&-", ">&-", "2>&-", ">&- 2>&-"])
  func `A standard stream that is closed at the start does not affect the report`(closed: String) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png", "/b.png"])

    let result = try await fixture.start(fixture.fetchArguments([list]), setup: "exec \(closed)").result()

    #expect(result.ending == .exit(0))
    #expect(try fixture.report().map(\.status) == ["ok", "ok"])
  }

  @Test(arguments: [
    ["cache", "ls"], ["cache", "stats"], ["cache", "verify"], ["fetch", "--dry-run", "list.txt"], ["--help"],
  ])
  func `A command that cannot write standard output exits with 74`(arguments: [String]) async throws {
    let fixture = try CommandFixture()

    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(0))

    let result = try await fixture.start(
      arguments, environment: ["THUMBS_CACHE_DIR": fixture.cache], setup: "exec > /dev/full"
    ).result()
    #expect(result.ending == .exit(74))
    #expect(result.errors == "thumbs: Cannot write standard output.\n")
  }

  @Test func `A run with a low limit of open files finishes all of its rows`() async throws {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    let list = try fixture.list((0..<60).map { "/\($0).png" })

    let result = try await fixture.start(fixture.fetchArguments([list]), setup: "ulimit -n 40").result()

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try fixture.outputs().count == 60)
  }

  /// The format of a manifest whose rows all have the same URL.
  enum Rows: CaseIterable {
    case text, packedJSONLines

    func bytes(_ rows: Range<Int>, url: String) throws -> [UInt8] {
      switch self {
      case .text: Array(String(repeating: url + "\n", count: rows.count).utf8)
      case .packedJSONLines:
        try gzipped(rows.map { "{\"url\":\"\(url)\",\"priority\":\"low\",\"depends\":\"\($0)\"}\n" }.joined())
      }
    }
  }

  /// The number of rows that a run reads ahead, without those in flight.
  private static let lookahead = 16_384

  @Test(.disabled(if: Sanitizer.isOn, "A sanitizer needs additional memory."), arguments: Rows.allCases)
  func `A hundred thousand rows take no more memory than the rows that are read ahead`(rows: Rows) async throws {
    var peaks: [Int] = []

    for count in [Self.lookahead, 100_000] {
      let (gate, image) = (Gate(), SampleImage.png(width: 4, height: 4))
      let fixture = try CommandFixture { _ in .http(200, ["Cache-Control": "max-age=3600"], image).after(gate) }
      let url = fixture.server.url("/a.png")
      // With one malloc arena per thread, the peak would depend on the number of threads that happened to run at once.
      let command = try fixture.start(
        fixture.fetchArguments(["-", "-q"], report: "-"), environment: ["MALLOC_ARENA_MAX": "1"], input: .pipe)
      command.write(try rows.bytes(0..<Self.lookahead, url: url))
      // A row that fails at once: when it is in the report, all rows before it are in memory.
      command.write(try rows.bytes(0..<1, url: "http://["))
      await command.output.waitForLines(1)
      gate.open()
      if count > Self.lookahead { command.write(try rows.bytes(Self.lookahead..<count, url: url)) }
      // Its input is still open, so the command has finished every row but has not exited.
      await command.output.waitForLines(count + 1)
      peaks.append(try #require(command.peakMemory))
      command.closeInput()
      let result = await command.result()
      #expect(result.ending == .exit(1))
      // The rows, and the line that proves that the report is whole.
      #expect(result.output.utf8.count { $0 == UInt8(ascii: "\n") } == count + 2)
      #expect(fixture.server.requests.count == 1)
    }

    // 2 MiB for the stacks and buffers of threads.
    #expect(peaks[1] <= peaks[0] * 11 / 10 + 2048, "\(peaks) KiB")
  }
}
