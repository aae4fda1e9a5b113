import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: manners", .timeLimit(.minutes(20))) struct MannersTests {
  @Test(arguments: ["-", "list.txt", "list.csv", "list.jsonl"])
  func `An empty list is an error, and its report is complete`(manifest: String) async throws {
    let fixture = try CommandFixture()
    if manifest != "-" { _ = try fixture.directory.write("", as: manifest) }

    let result = try await fixture.fetch(manifest)

    #expect(result.ending == .exit(65))
    #expect(result.errors.contains("\(manifest == "-" ? "standard input" : manifest): no rows: it is empty."))
    let end = #"{"complete":true,"rows":0,"list":"0000000000000000","items":0}"#
    #expect(try fixture.text("report.jsonl") == end + "\n")
  }

  @Test(arguments: [([], true), (["-q"], false), (["--no-cache"], false), (["--cache-dir", "c"], false)])
  func `A run without HOME has no cache, and mentions it once`(options: [String], isMentioned: Bool) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    let result = try await fixture.start(["fetch", list, "--progress", "none"] + options, setup: "unset HOME").result()

    #expect(result.ending == .exit(0))
    let notes = result.errorLines.filter { $0.hasPrefix("thumbs: Nothing is cached, because HOME is not set.") }
    #expect(notes.count == (isMentioned ? 1 : 0), "\(result.errors)")
  }

  @Test(arguments: [RunningCommand.Output.terminal, .pipe])
  func `The next step after failures is shown on a terminal only`(errors: RunningCommand.Output) async throws {
    let fixture = try CommandFixture { _ in .http(503) }
    let list = try fixture.list(["/a.png"])

    let fetched = try await fixture.start(fixture.fetchArguments([list]), errors: errors).result()
    let again = ["retry", "report.jsonl", "--no-cache", "--retries", "0", "--progress", "none"]
    let retried = try await fixture.start(again, errors: errors).result()

    for result in [fetched, retried] {
      #expect(result.ending == .exit(75))
      let count = result.errors.components(separatedBy: "  next: thumbs retry report.jsonl").count - 1
      #expect(count == (errors == .terminal ? 1 : 0), "\(result.errors)")
    }
  }

  @Test func `Reading from a terminal comes with a hint`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("\u{4}", as: "typed")
    _ = try fixture.directory.write("import pty, sys\npty.spawn(sys.argv[1:])\n", as: "terminal.py")

    let result = try await fixture.start(
      ["-", "--no-cache", "--progress", "none"], setup: "exec python3 terminal.py \"$0\" \"$@\" < typed"
    ).result()

    #expect(result.output.contains("thumbs: Reading URLs from the terminal, one per line."))
    #expect(result.output.contains("standard input: no rows: it is empty."))
  }

  @Test func `A run in the background draws no bar on its terminal`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/a.png" ? .icon() : .icon().after(gate) }
    let list = try fixture.list(["/a.png", "/b.png"])
    // With `set -m`, the job gets its own process group, as in an interactive shell.
    let script = "import pty, sys\npty.spawn(['sh', '-c', 'set -m; \"$0\" \"$@\" & wait'] + sys.argv[1:])\n"
    _ = try fixture.directory.write(script, as: "job.py")
    let command = try fixture.start(
      ["fetch", list, "--no-cache", "-v", "--timeout", "2400"], environment: ["TERM": "xterm"],
      setup: "exec python3 job.py \"$0\" \"$@\"")

    // In the foreground, the bar is drawn with the line of the first row.
    await command.output.waitForText("ok network")
    gate.open()
    let result = await command.result()

    #expect(result.output.contains("2 items: 2 ok") && !result.output.contains("\u{1B}"), "\(result)")
  }

  @Test func `An argument that is not UTF-8 is a usage error`() async throws {
    let fixture = try CommandFixture()
    let setup = "name=$(printf 'caf\\351.txt'); echo > \"$name\"; exec \"$0\" fetch -o out \"$name\""

    let result = try await fixture.start([], setup: setup).result()

    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("Argument 4, 'caf\u{FFFD}.txt', is not UTF-8."))
    #expect(!FileManager.default.fileExists(atPath: fixture.directory.path("out")))
  }
}
