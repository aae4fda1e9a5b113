import TestSupport
import Testing

@Suite("thumbs fetch: pipes and terminals", .timeLimit(.minutes(5))) struct StreamTests {
  @Test func `Standard input is worked on before its end`() async throws {
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

  @Test func `Progress is drawn on a terminal and gone at the end`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { _ in .icon().after(gate) }
    let arguments = fixture.fetchArguments([try fixture.list(["/a.png"]), "--progress", "auto"], report: "-")
    let command = try fixture.start(arguments, environment: ["TERM": "xterm"], errors: .terminal)
    await command.errors.waitForText("0/1")
    gate.open()
    let result = await command.result()
    #expect(result.ending == .exit(0))
    #expect(result.errors.contains("] 0/1") && result.errors.contains("\u{1B}[J\r"))
    // The bar's last sign is that it is cleared; the summary follows on the empty line.
    #expect(result.errors.contains("\r\u{1B}[J1 item: 1 ok"))
    #expect(!result.output.contains("\u{1B}"))
  }

  @Test(arguments: [["-q"], ["--progress", "none"], ["--progress", "plain"], ["-v"]])
  func `There is no escape code where no bar is wanted`(options: [String]) async throws {
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

  @Test func `With -v every row has its line on standard error`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let result = try await fixture.fetch(try fixture.list(["/a.png", "/gone.png"]), "-v")
    let lines = Set(result.errorLines.map(String.init))
    #expect(lines.contains("ok network \(fixture.server.url("/a.png")) -> a.png"))
    #expect(lines.contains { $0.hasPrefix("failed http_404 \(fixture.server.url("/gone.png")) ") })
  }

  @Test func `A reader of the report that goes away ends the run quietly`() async throws {
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
  func `A closed stream takes nothing of the report, nor gives anything to it`(closed: String) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png", "/b.png"])
    let result = try await fixture.start(fixture.fetchArguments([list]), setup: "exec \(closed)").result()
    #expect(result.ending == .exit(0))
    #expect(try fixture.report().map(\.status) == ["ok", "ok"])
  }

  @Test(arguments: [
    ["cache", "ls"], ["cache", "stats"], ["cache", "verify"], ["fetch", "--dry-run", "list.txt"], ["--help"],
  ])
  func `What cannot be printed is an error`(arguments: [String]) async throws {
    let fixture = try CommandFixture()
    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(0))
    let result = try await fixture.start(
      arguments, environment: ["THUMBS_CACHE_DIR": fixture.cache], setup: "exec > /dev/full"
    ).result()
    #expect(result.ending == .exit(74))
    #expect(result.errors == "thumbs: Cannot write standard output.\n")
  }

  @Test func `A run that may have few files open at once does all of its rows`() async throws {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    let list = try fixture.list((0..<60).map { "/\($0).png" })
    let result = try await fixture.start(fixture.fetchArguments([list]), setup: "ulimit -n 40").result()
    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try fixture.outputs().count == 60)
  }

  /// A list of `count` rows with one address, as the command reads it from standard input.
  enum Rows: CaseIterable {
    case text, packedJSONLines

    func bytes(_ count: Int, url: String) throws -> [UInt8] {
      switch self {
      case .text: Array(String(repeating: url + "\n", count: count).utf8)
      case .packedJSONLines:
        try gzipped((0..<count).map { "{\"url\":\"\(url)\",\"priority\":\"low\",\"depends\":\"\($0)\"}\n" }.joined())
      }
    }
  }

  @Test(.disabled(if: Sanitizer.isOn, "A sanitizer has memory of its own."), arguments: Rows.allCases)
  func `A hundred thousand rows take no more memory than a thousand`(rows: Rows) async throws {
    let picture = SampleImage.png(width: 4, height: 4)
    let fixture = try CommandFixture { _ in .http(200, ["Cache-Control": "max-age=3600"], picture) }
    let url = fixture.server.url("/a.png")
    var peaks: [Int] = []
    for count in [1000, 100_000] {
      // With a pool of the allocator for each thread, it would show how many threads happened to meet.
      let command = try fixture.start(
        fixture.fetchArguments(["-", "-q"], report: "-"), environment: ["MALLOC_ARENA_MAX": "1"], input: .pipe)
      command.write(try rows.bytes(count, url: url))
      // Its input is still open, so it has done everything and is not gone.
      await command.output.waitForLines(count)
      peaks.append(try #require(command.peakMemory))
      command.closeInput()
      let result = await command.result()
      #expect(result.ending == .exit(0))
      #expect(result.output.utf8.count { $0 == UInt8(ascii: "\n") } == count)
    }
    #expect(fixture.server.requests.count == 1)
    // Two MiB for the stacks and buffers of threads.
    #expect(peaks[1] <= peaks[0] * 11 / 10 + 2048, "\(peaks) KiB")
  }
}
