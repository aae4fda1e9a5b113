import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite("thumbs report merge", .timeLimit(.minutes(20))) struct ReportMergeCommandTests {
  private static let end = #"{"complete":true,"rows":4,"list":"1122334455667788","shard":"1/2","by":"row"}"# + "\n"

  private static let mergedEnd = #"{"complete":true,"rows":4,"list":"1122334455667788","items":4}"# + "\n"

  private func line(_ index: Int, _ status: String = "ok", url: String = "http://a.example/") -> String {
    #"{"index":\#(index),"url":"\#(url)\#(index)","status":"\#(status)"}"# + "\n"
  }

  private func fixture(_ reports: String...) throws -> CommandFixture {
    let fixture = try CommandFixture()
    for (number, report) in reports.enumerated() { _ = try fixture.directory.write(report, as: "\(number).jsonl") }
    return fixture
  }

  @Test func `The combined report has each row once, as it was`() async throws {
    let fixture = try fixture(line(3) + line(0, "failed") + Self.end, line(1) + line(0) + line(2) + Self.end)

    let result = try await fixture.run("report", "merge", "0.jsonl", "1.jsonl", "-o", "all.jsonl")

    #expect(result.ending == .exit(0) && result.output.isEmpty)
    #expect(try fixture.text("all.jsonl") == line(3) + line(1) + line(0) + line(2) + Self.mergedEnd)
    #expect(
      result.errorLines == [
        "thumbs: 2 reports have 4 rows: 4 ok, 0 failed.",
        "thumbs: 1 row has several lines, of which the best was kept: 0.",
      ])
    #expect(try await fixture.run("report", "summary", "all.jsonl").ending == .exit(0))
  }

  @Test func `Missing rows are listed, the combined report is partial, and the exit status is 65`() async throws {
    let fixture = try fixture(line(0) + Self.end)

    let result = try await fixture.run("report", "merge", "0.jsonl", "--summary", "summary.json")

    #expect(result.ending == .exit(65))
    #expect(result.errors.hasSuffix("thumbs: 3 rows are missing: 1-3.\n"))
    #expect(result.output.hasPrefix(line(0) + #"{"complete":false,"items":1,"#))
    let summary = try fixture.object("summary.json")
    #expect(summary["exit"] as? Int == 65 && summary["complete"] as? Bool == false)
    #expect(summary["missing"] as? [[Int]] == [[1, 3]] && summary["repeated"] as? [[Int]] == [])
  }

  @Test func `Rows after the last one are missed if the number of rows is given`() async throws {
    let fixture = try fixture(line(0) + line(1) + #"{"complete":true,"items":2}"# + "\n")

    #expect(try await fixture.run("report", "merge", "0.jsonl").ending == .exit(0))
    #expect(try await fixture.run("report", "merge", "0.jsonl", "--rows", "3").ending == .exit(65))
  }

  @Test func `Shards of two lists with as many rows are not taken for one`() async throws {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    for (shard, paths) in [(1, 0..<8), (2, 4..<12)] {
      let list = try fixture.list(paths.map { "/\($0).png" })
      let options = [list, "--shard", "\(shard)/2", "--shard-by", "row"]
      #expect(
        try await fixture.start(fixture.fetchArguments(options, report: "\(shard).jsonl")).result().ending == .exit(0))
    }

    let result = try await fixture.run("report", "merge", "1.jsonl", "2.jsonl", "-o", "all.jsonl")

    #expect(result.ending == .exit(65) && result.errors.contains("2.jsonl: is of another list than 1.jsonl"))
    #expect(try !fixture.directory.files().contains("all.jsonl"))
  }

  @Test func `A report that changes while it is merged is an error, and the result says that it is partial`() throws {
    let fixture = try fixture(line(0) + line(1) + line(2))
    _ = try fixture.directory.write(line(9), as: "all.jsonl")
    let path = fixture.directory.path("0.jsonl")
    let sources = [try ReportSource(path: path)]
    let files = try MergeFiles(
      output: fixture.directory.path("all.jsonl"), summary: nil, sources: sources, mayReplaceAny: false)
    var merge = ReportMerge()
    // A line that the report does not have, as if the file had been cut: its time and size are those of before.
    for number in 1...4 {
      let row = try #require(ReportRow(["index": number, "status": "ok"]))
      let isAdded = merge.add(row, number: number, report: 0)
      #expect(isAdded)
    }

    let merged = try merge.resolve(MergedList(rows: nil))
    #expect(throws: InputError.self) { try files.write(merged, from: sources, exit: .success) }
    let text = try fixture.text("all.jsonl")
    #expect(text.hasPrefix(line(0) + line(1) + line(2)) && ReportedRow.isPartial(text))
  }

  @Test(arguments: [#"{"complete":false}"# + "\n", #"{"index":2,"sta"#, "", #"{"complete":true,"items":3}"# + "\n"])
  func `Without the number of rows, a partial report proves nothing`(end: String) async throws {
    let fixture = try fixture(line(0) + line(1) + end)

    let result = try await fixture.run("report", "merge", "0.jsonl", "-o", "all.jsonl")
    let known = try await fixture.run("report", "merge", "0.jsonl", "--rows", "2")

    #expect(result.ending == .exit(65) && known.ending == .exit(0))
    #expect(result.errors.hasSuffix("none says how many rows the list has; give their number with --rows.\n"))
    #expect(try ReportedRow.isPartial(fixture.text("all.jsonl")))
  }

  @Test func `A merged report proves the end of its list in the next merge`() async throws {
    let fixture = try fixture(line(0) + line(1) + line(2) + line(3) + Self.end)
    #expect(try await fixture.run("report", "merge", "0.jsonl", "-o", "all.jsonl").ending == .exit(0))

    _ = try fixture.directory.write(
      fixture.text("all.jsonl").replacing(line(3), with: ""), as: "shortened.jsonl")

    #expect(try await fixture.run("report", "merge", "shortened.jsonl").ending == .exit(65))
  }

  @Test func `Reports from pipes and in gzip are read, and a killed run's last line is ignored`() async throws {
    let fixture = try fixture(line(0), line(1) + line(2).dropLast(9), line(2))
    _ = try fixture.directory.write(gzipped(try fixture.text("0.jsonl")), as: "0.jsonl.gz")
    let merge = "'\(RunningCommand.executable.path)' report merge 0.jsonl.gz - 2.jsonl --rows 3"
    let script = "\(merge) < 1.jsonl; cat 1.jsonl | \(merge); exit"

    let result = try await fixture.start([], setup: script).result()

    let merged = line(0) + line(1) + line(2) + #"{"complete":true,"rows":3,"items":3}"# + "\n"
    #expect(result.output == merged + merged)
    #expect(result.errors.contains("thumbs: standard input: The last line is not finished and is ignored.\n"))
  }

  @Test(arguments: [
    ("{}\n", "0.jsonl, line 1: not a report line: it has no index and status."),
    (#"{"index":-1,"status":"ok"}"#, "0.jsonl, line 1: the index is out of range."),
    (
      #"{"index":0,"status":"ok","url":"http://other.example/"}"#,
      "row 0 has another URL in 0.jsonl; these are reports of different lists."
    ),
    (#"{"index":9,"status":"ok"}"#, "0.jsonl: has a row 9, but the list has only 4 rows, from 0."),
    (
      #"{"complete":true,"rows":5,"shard":"2/2","by":"row"}"#,
      "1.jsonl: is of a list with 4 rows, but 0.jsonl has 5."
    ),
    (
      #"{"complete":true,"rows":4,"list":"8877665544332211","shard":"2/2","by":"row"}"#,
      "1.jsonl: is of another list than 0.jsonl, or the list was changed between the runs."
    ),
  ])
  func `Reports that cannot be read or do not belong together leave the output as it was`(
    report: String, message: String
  ) async throws {
    let fixture = try fixture(report, line(0) + Self.end)
    _ = try fixture.directory.write(line(7), as: "all.jsonl")

    for output in ["all.jsonl", "new.jsonl"] {
      let result = try await fixture.run("report", "merge", "0.jsonl", "1.jsonl", "-o", output)
      #expect(result.ending == .exit(65))
      #expect(result.errors.hasSuffix(message + "\n"), "\(result.errors)")
    }
    #expect(try fixture.text("all.jsonl") == line(7))
    #expect(!FileManager.default.fileExists(atPath: fixture.directory.path("new.jsonl")))
  }

  @Test func `A report is never replaced by the result, nor is another file`() async throws {
    let fixture = try fixture(line(0), line(1))
    _ = try fixture.directory.write("mine\n", as: "mine.txt")

    let same = try await fixture.run("report", "merge", "0.jsonl", "1.jsonl", "-o", "1.jsonl")
    let other = try await fixture.run("report", "merge", "0.jsonl", "1.jsonl", "-o", "mine.txt")
    let missing = try await fixture.run("report", "merge", "0.jsonl", "none.jsonl", "-o", "x.jsonl")
    let forced = try await fixture.run(
      "report", "merge", "0.jsonl", "1.jsonl", "-o", "mine.txt", "--rows", "2", "--overwrite")

    #expect(same.ending == .exit(64) && other.ending == .exit(73) && missing.ending == .exit(65))
    #expect(forced.ending == .exit(0))
    let end = #"{"complete":true,"rows":2,"items":2}"# + "\n"
    #expect(try fixture.text("1.jsonl") == line(1) && fixture.text("mine.txt") == line(0) + line(1) + end)
    #expect(try !fixture.directory.files().contains("x.jsonl"))
  }

  /// `make test-worker` does the same with 8 shards and more rows.
  @Test func `Shards that were killed and run again give each row exactly once`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { request in
      let number = Int(request.target.filter(\.isNumber)) ?? 0
      return number < 60 ? .icon(number) : .icon(number).after(gate)
    }
    let list = try fixture.list((0..<120).map { "/\($0).png" })
    func start(_ shard: Int, _ report: String) throws -> RunningCommand {
      let options = [list, "--shard", "\(shard)/3", "--shard-by", "url", "-q"]
      return try fixture.start(fixture.fetchArguments(options, report: report))
    }

    let killed = try start(1, "killed.jsonl")
    await fixture.server.waitForRequests(8)
    killed.send(SIGKILL)
    #expect(await killed.result().ending == .signal(SIGKILL))
    gate.open()
    for shard in 1...3 { #expect(try await start(shard, "\(shard).jsonl").result().ending == .exit(0)) }
    let result = try await fixture.run(
      "report", "merge", "killed.jsonl", "1.jsonl", "2.jsonl", "3.jsonl", "-o", "all.jsonl")
    let less = try await fixture.run("report", "merge", "killed.jsonl", "2.jsonl", "3.jsonl")

    #expect(result.ending == .exit(0), "\(result.errors)")
    let rows = try ReportedRow.all(in: fixture.text("all.jsonl"))
    #expect(rows.map(\.index) == Array(0..<120) && rows.allSatisfy { $0.status == "ok" })
    #expect(less.ending == .exit(65))
  }
}
