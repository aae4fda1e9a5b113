import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: the summary file", .timeLimit(.minutes(20))) struct SummaryCommandTests {
  private func summary(_ fixture: CommandFixture) throws -> [String: Any] {
    let data = try Data(contentsOf: URL(fileURLWithPath: fixture.directory.path("summary.json")))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test func `The summary counts items, written and unchanged files, and bytes saved by the cache`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/a.png", "/b.png", "/gone.png"])
    let bytes = 2 * SampleImage.png(width: 40, height: 30, seed: 0).count
    let older = "{\"version\":1,\"exit\":0,\"an older and longer one\"" + String(repeating: ".", count: 9999)
    _ = try fixture.directory.write(older, as: "summary.json")
    for round in 1...2 {
      #expect(try await fixture.fetch(list, "--summary", "summary.json").ending == .exit(1))
      let summary = try summary(fixture)
      #expect(summary["version"] as? Int == 1 && summary["exit"] as? Int == 1)
      #expect(summary["items"] as? [String: Int] == ["total": 3, "ok": 2, "failed": 1, "cancelled": 0, "skipped": 0])
      #expect(summary["files"] as? [String: Int] == ["written": round == 1 ? 2 : 0, "unchanged": round == 1 ? 0 : 2])
      #expect((summary["bytes"] as? [String: Int])?["saved"] == (round == 1 ? 0 : bytes))
      let origins = summary["origins"] as? [[String: Any]]
      #expect(origins?.compactMap { $0["origin"] as? String } == [round == 1 ? "network" : "disk"])
      let hosts = summary["hosts"] as? [String: Any]
      #expect((hosts?["failing"] as? [[String: Any]])?.first?["host"] as? String == "127.0.0.1")
    }
    let names = try fixture.outputs()

    #expect(names == ["a.png", "b.png"])
  }

  @Test func `The summary has the exit status of a run whose manifest is truncated`() async throws {
    let fixture = try CommandFixture()
    let rows = (0..<500).map { fixture.server.url("/\($0).png") + "\n" }.joined()
    _ = try fixture.directory.write(Array(gzipped(rows).dropLast(40)), as: "torn.txt.gz")

    let result = try await fixture.fetch("torn.txt.gz", "--summary", "summary.json")

    #expect(result.ending == .exit(65))
    #expect(try summary(fixture)["exit"] as? Int == 65 && summary(fixture)["complete"] as? Bool == false)
    #expect(try ReportedRow.isPartial(fixture.text("report.jsonl")) && fixture.report().count > 100)
  }

  @Test func `The summary has the exit status of a run whose report is closed early`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<200).map { "/\($0).png" })
    let command = try fixture.start(
      fixture.fetchArguments([list, "--summary", "summary.json"], report: "-"), output: .reader(lines: 1))

    #expect(await command.result().ending == .exit(74))
    #expect(try summary(fixture)["exit"] as? Int == 74)
  }

  @Test func `A summary that cannot be created stops the run before anything is fetched`() async throws {
    let fixture = try CommandFixture()
    let result = try await fixture.fetch(try fixture.list(["/a.png"]), "--summary", "none/summary.json")

    #expect(result.ending == .exit(73))
    #expect(fixture.server.requests.isEmpty)

    let twice = try await fixture.fetch("list.txt", "--summary", "report.jsonl")
    #expect(twice.ending == .exit(64))
  }
}
