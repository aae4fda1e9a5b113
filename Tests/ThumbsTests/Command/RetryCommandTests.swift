import Foundation
import TestSupport
import Testing

@Suite("thumbs retry", .timeLimit(.minutes(2))) struct RetryCommandTests {
  @Test func `Only what is worth retrying is fetched again, into the files it would have had`() async throws {
    let isWell = Gate()
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/gone/a.png": .http(404)
      case "/busy/a.png" where !isWell.isOpen: .http(503)
      default: .icon()
      }
    }
    let list = try fixture.list(["/first/a.png", "/busy/a.png", "/gone/a.png", "/other/b.png"])
    #expect(try await fixture.fetch(list, "--size", "8", "--size", "16", "--fit", "cover").ending == .exit(75))
    let first = fixture.server.requests.count
    isWell.open()
    let second = try await fixture.run(
      "retry", "report.jsonl", "--cache-dir", fixture.cache, "--report", "second.jsonl")
    #expect(second.ending == .exit(0))
    #expect(fixture.server.requests.dropFirst(first).map(\.target) == ["/busy/a.png"])
    let rows = try ReportedRow.all(in: String(contentsOfFile: fixture.directory.path("second.jsonl"), encoding: .utf8))
    #expect(rows.map(\.index) == [1])
    // The name was taken by the first row: the hash that tells them apart is the one of the whole manifest.
    let paths = rows.flatMap(\.paths)
    #expect(paths.count == 2 && paths[0].hasPrefix("a-8x8-") && paths[1].hasPrefix("a-16x16-"))
    #expect(PictureFile(try fixture.output(paths[0]))?.height == 8)
    let whole = try await fixture.fetch(list, "--size", "8", "--size", "16", "--fit", "cover", "--offline")
    #expect(whole.ending == .exit(1))
    #expect(try fixture.report()[1].paths == paths)
  }

  @Test func `All failures are tried on demand, and the report may be replaced`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/gone.png", "/a.png"])
    #expect(try await fixture.fetch(list).ending == .exit(1))
    let nothing = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache, "--progress", "none")
    #expect(nothing.ending == .exit(0))
    #expect(
      nothing.errors.hasPrefix(
        "thumbs: Nothing to retry: 1 row is done, 1 failed for good (--all-failed tries them).\n"))
    let all = try await fixture.run(
      "retry", "--all-failed", "report.jsonl", "--no-cache", "--report", "report.jsonl", "-o", "elsewhere")
    #expect(all.ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["http_404"])
    #expect(fixture.requestCounts == ["/gone.png": 2, "/a.png": 1])
  }

  @Test func `An interrupted run is finished by retry as far as its rows were read`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/0.png" ? .icon() : .icon().after(gate) }
    let list = try fixture.list((0..<6).map { "/\($0).png" })
    let command = try fixture.start(fixture.fetchArguments([list]))
    await fixture.server.waitForRequests(6)
    command.send(SIGTERM)
    #expect(await command.result().ending == .exit(143))
    gate.open()
    let rest = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache)
    #expect(rest.ending == .exit(0))
    #expect(try fixture.outputs() == (0..<6).map { "\($0).png" })
  }

  @Test(arguments: [
    (["retry", "none.jsonl"], 65, "there is no such file"), (["retry", "list.txt"], 65, "not a line of a report"),
    (["retry", "report.jsonl", "--name", "{stem}.{ext}"], 64, "leave --name out"),
  ])
  func `A report that is none, and a name, are refused`(arguments: [String], code: Int32, text: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.list(["/a.png"])
    let result = try await fixture.start(arguments).result()
    #expect(result.ending == .exit(code))
    #expect(result.errors.contains(text))
  }
}
