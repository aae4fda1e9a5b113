import Foundation
import TestSupport
import Testing

@Suite("thumbs report", .timeLimit(.minutes(20))) struct ReportCommandTests {
  private func fixture() async throws -> CommandFixture {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let secret = fixture.server.url("/gone.png").replacing("http://", with: "http://me:secret@")
    let urls = [fixture.server.url("/a.png"), fixture.server.url("/gone.png"), secret, "http://["]
    #expect(try await fixture.fetch(try fixture.list(urls: urls)).ending == .exit(1))
    return fixture
  }

  @Test func `The summary of a report has its counts, as text and as JSON`() async throws {
    let fixture = try await fixture()

    let text = try await fixture.run("report", "summary", "report.jsonl")
    let json = try await fixture.run("report", "summary", "report.jsonl", "--json")

    #expect(text.ending == .exit(0) && text.errors == "")
    #expect(text.output.hasPrefix("4 items: 1 ok, 3 failed; 1 file, "))
    #expect(text.output.contains("  failed: 2 http_404, 1 bad_url\n"))
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(object?["items"] as? [String: Int] == ["total": 4, "ok": 1, "failed": 3, "cancelled": 0])
    #expect(!(text.output + json.output).contains("secret"))
  }

  @Test func `The failed rows are listed with code and reason, and their URLs can be fetched again`() async throws {
    let fixture = try await fixture()
    let gone = fixture.server.url("/gone.png")

    let list = try await fixture.run("report", "failed", "report.jsonl")
    let urls = try await fixture.run("report", "failed", "report.jsonl", "--urls")
    let json = try await fixture.run("report", "failed", "report.jsonl", "--json")

    #expect(list.output.contains("http_404\t\(gone)\tThe server responded with status 404.\n"))
    #expect(list.output.split(separator: "\n").count == 3 && !list.output.contains("secret"))
    #expect(Set(urls.output.split(separator: "\n").map(String.init)) == [gone, "http://["])
    #expect(urls.errors == "thumbs: 1 row has no URL in the report that can be requested again.\n")
    let lines = try fixture.text("report.jsonl").split(separator: "\n").filter { $0.contains("\"failed\"") }
    #expect(json.output.split(separator: "\n") == lines)
  }

  @Test func `The slowest and the largest rows and the hosts are listed, the greatest first`() async throws {
    let fixture = try CommandFixture()
    func row(_ name: String, _ milliseconds: Int, _ bytes: Int, from origin: String = "network") -> String {
      #"{"index":0,"url":"http://\#(name).example/x.png","status":"ok","origin":"\#(origin)","#
        + #""source":{"bytes":\#(bytes)},"ms":{"download":\#(milliseconds)}}"#
    }
    let rows = [row("a", 120, 500), row("b", 4000, 90), row("c", 30, 70_000)]
    let others = [
      row("a", 9999, 1, from: "disk"),
      #"{"index":4,"url":"http://a.example/z.png","status":"failed","code":"http_404"}"#,
    ]
    let text = (rows + others).joined(separator: "\n") + "\n"
    try text.write(toFile: fixture.directory.path("r.jsonl"), atomically: false, encoding: .utf8)

    let slow = try await fixture.run("report", "slow", "r.jsonl", "-n2").output
    #expect(slow == "4.000\t90\thttp://b.example/x.png\n0.120\t500\thttp://a.example/x.png\n")
    let large = try await fixture.run("report", "large", "r.jsonl", "--json").output
    #expect(large == [rows[2], rows[0], rows[1], others[0]].joined(separator: "\n") + "\n")
    let hosts = try await fixture.run("report", "hosts", "r.jsonl").output
    #expect(hosts == "3\t1\t1\t0.120\ta.example\n1\t0\t1\t4.000\tb.example\n1\t0\t1\t0.030\tc.example\n")
    let json = try await fixture.run("report", "hosts", "r.jsonl", "--json").output
    #expect(json.hasPrefix(#"{"host":"a.example","downloads":1,"mean":120,"items":3,"failed":1}"# + "\n"))
    #expect(try await fixture.run("report", "slow", "r.jsonl", "-n", "0").ending == .exit(64))
  }

  @Test func `Pipes carry reports and URLs from command to command`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/a.png", "/gone.png"])
    let thumbs = "'\(RunningCommand.executable.path)'"
    let script =
      "\(thumbs) \(list) -q --no-cache --report - | tee r.jsonl | \(thumbs) report failed - --urls"
      + " | \(thumbs) -q --no-cache --report - - | python3 -m json.tool --json-lines --compact; gzip r.jsonl;"
      + " \(thumbs) report summary r.jsonl.gz"

    let result = try await fixture.start([], setup: script + "; exit").result()

    #expect(result.ending == .exit(0))
    #expect(result.errorLines.allSatisfy { $0.hasSuffix("rows failed: 1 http_404.") }, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix(#"{"index":0,"url":"\#(fixture.server.url("/gone.png"))","#) == true)
    #expect(lines.dropFirst().first?.hasPrefix(#"{"complete":true,"rows":1,"#) == true)
    #expect(lines.dropFirst(2).first?.hasPrefix("2 items: 1 ok, 1 failed; ") == true)
    #expect(fixture.requestCounts == ["/a.png": 1, "/gone.png": 2])
  }

  @Test func `Escape sequences in a report are not printed, and an unfinished line is mentioned`() async throws {
    let fixture = try CommandFixture()
    let row = #"{"index":0,"url":"http://h/\u001b[2J","status":"failed","code":"x\u009b","message":"\u202e\n"}"# + "\n"
    _ = try fixture.directory.write(row + row.dropLast(9), as: "report.jsonl")
    for arguments in [["summary"], ["summary", "--json"], ["failed"], ["failed", "--urls"], ["failed", "--json"]] {
      let result = try await fixture.start(["report"] + arguments + ["report.jsonl"]).result()
      #expect(result.ending == .exit(0))
      #expect(!result.output.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x9B || $0.value == 0x202E })
      #expect(result.errors.hasPrefix("thumbs: The last line of the report is not finished and is ignored.\n"))
    }
  }

  @Test func `A report of any length is read in constant memory`() async throws {
    let fixture = try CommandFixture()
    let row = #"{"index":0,"url":"http://h/a.png","status":"failed","code":"tls","message":"No."}"# + "\n"
    var peaks: [Int] = []
    for count in [2000, 60_000] {
      let command = try fixture.start(["report", "failed", "-"], input: .pipe)
      command.write(String(repeating: row, count: count))
      // The last lines may still be in the output buffer of the command, which has not ended.
      await command.output.waitForLines(count - 1000)
      peaks.append(try #require(command.peakMemory))
      command.closeInput()
      #expect(await command.result().output.utf8.count { $0 == UInt8(ascii: "\n") } == count)
    }
    #expect(peaks[1] <= peaks[0] + 8192, "\(peaks) KiB")
  }

  @Test(arguments: [["summary", "none.jsonl"], ["failed", "list.txt"]])
  func `A file that is not a report exits with 65`(arguments: [String]) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.list(["/a.png"])
    #expect(try await fixture.start(["report"] + arguments).result().ending == .exit(65))
  }
}
