import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch --hosts", .timeLimit(.minutes(20))) struct HostsOptionTests {
  @Test(arguments: [[], ["--dry-run"]])
  func `An error in the file exits with 64 before anything is requested or written`(options: [String]) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])
    _ = try fixture.directory.write("{\"images.example\": {\"rate\": \"0/s\"}}", as: "hosts.json")

    let result = try await fixture.start(fixture.fetchArguments([list, "--hosts", "hosts.json"] + options)).result()

    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("--hosts hosts.json, \"images.example\", \"rate\": give 0.001 to 1000000"))
    #expect(result.output.isEmpty && fixture.server.requests.isEmpty)
    #expect(try fixture.directory.files() == ["hosts.json", list])
  }

  @Test func `A missing file exits with 64, for a retry too`() async throws {
    let fixture = try CommandFixture()

    #expect(try await fixture.fetch(fixture.list(["/a.png"])).ending == .exit(0))

    for arguments in [["fetch", "list.txt"], ["retry", "report.jsonl"]] {
      let result = try await fixture.start(arguments + ["--hosts", "none.json"]).result()
      #expect(result.ending == .exit(64))
      #expect(result.errors.contains("--hosts none.json: there is no such file."))
    }
  }

  @Test func `The file may be a pipe`() async throws {
    let fixture = try CommandFixture()
    let arguments = fixture.fetchArguments([try fixture.list(["/a.png"]), "--hosts", "pipe"])

    for (limit, code) in [(1, 0), (0, 64)] as [(Int, Int32)] {
      let rules = "{\"127.0.0.1\": {\"per-host\": \(limit)}}"
      let setup = "rm -f pipe; mkfifo pipe; (echo '\(rules)' >pipe) & true"
      #expect(try await fixture.start(arguments, setup: setup).result().ending == .exit(code))
    }
  }

  @Test(arguments: ["--report", "--summary", "--gallery"])
  func `No named output replaces the file`(option: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("{}", as: "hosts.json")

    let result = try await fixture.fetch(
      fixture.list(["/a.png"]), "--hosts", "hosts.json", option, "./hosts.json", "--overwrite")

    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("./hosts.json cannot be both the file of --hosts and the "))
    #expect(try fixture.text("hosts.json") == "{}")
  }

  @Test func `No thumbnail replaces the file`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("{}", as: "a.png")

    let result = try await fixture.fetch(fixture.list(["/a.png"]), "--hosts", "a.png", "-o", ".", "--overwrite")

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["output_conflict"])
    #expect(try fixture.text("a.png") == "{}")
  }
}
