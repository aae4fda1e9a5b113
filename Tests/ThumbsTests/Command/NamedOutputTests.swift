import Foundation
import TestSupport
import Testing

@testable import thumbs

/// Tests the effect of the output options on existing files.
@Suite("thumbs fetch: files named for output", .timeLimit(.minutes(20))) struct NamedOutputTests {
  private static let oldReport = "{\"index\":0,\"status\":\"ok\"}\n"

  private func fixture() throws -> CommandFixture {
    let fixture = try CommandFixture()
    _ = try fixture.list((0..<2000).map { "/a.png?\($0)" })
    _ = try fixture.directory.write(Self.oldReport, as: "old.jsonl")
    _ = try fixture.directory.write("milk\n", as: "notes.txt")
    _ = try fixture.directory.write("{\"index\":{\"_index\":\"a\"}}\n", as: "bulk.json")
    _ = try fixture.directory.write("{\"version\":3,\"sources\":[]}\n", as: "app.js.map")
    try FileManager.default.createSymbolicLink(
      atPath: fixture.directory.path("link"), withDestinationPath: fixture.directory.path("list.txt"))
    try FileManager.default.linkItem(
      atPath: fixture.directory.path("list.txt"), toPath: fixture.directory.path("second-name"))
    return fixture
  }

  @Test func `One image gets the file that -o names, in the format of its extension`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let url = fixture.server.url("/a.png")
    for name in ["cover.png", "covers/deep/Cover.JPG", "c.d.webp", "cover.gif"] {
      let arguments = [url, "-o", name, "-s", "16", "--no-cache"]
      #expect(try await fixture.start(arguments).result().ending == .exit(0))
      let again = try await fixture.start(arguments + ["--summary", "s.json"]).result()
      #expect(again.ending == .exit(0))
      #expect(try fixture.object("s.json")["files"] as? [String: Int] == ["written": 0, "unchanged": 1])
    }
    #expect(try fixture.data("cover.png").starts(with: [0x89, 0x50, 0x4E, 0x47]))
    #expect(try fixture.data("covers/deep/Cover.JPG").starts(with: [0xFF, 0xD8]))
    #expect(try fixture.data("c.d.webp").starts(with: "RIFF".utf8))
    #expect(try fixture.data("cover.gif").starts(with: "GIF89a".utf8))

    let thumbs = "'\(RunningCommand.executable.path)'"
    let gone = url.replacing("a.png", with: "gone.png")
    let script =
      "mkdir t; export TMPDIR=\"$PWD/t\"; \(thumbs) \(url) -o - -s 16 --no-cache > piped.png;"
      + " \(thumbs) \(gone) -o - --no-cache -q > nothing; echo $?; ls t; exit"
    let piped = try await fixture.start([], setup: script).result()
    #expect(piped.output == "1\n")
    #expect(try fixture.data("piped.png") == fixture.data("cover.png") && fixture.data("nothing").isEmpty)
  }

  @Test(arguments: ["-", "a.jpg", "b/c.d.PNG"])
  func `A retry takes no file in place of a directory`(place: String) async throws {
    let fixture = try CommandFixture { _ in .http(503) }
    let list = try fixture.list(["/a.png"])
    #expect(try await fixture.fetch(list, "--retries", "0").ending == .exit(75))
    let before = try fixture.directory.files()

    let result = try await fixture.run("retry", "report.jsonl", "-o", place)
    #expect(result.ending == .exit(64) && result.errors.contains("-o \(place) is for one image; name a directory."))
    #expect(try fixture.directory.files() == before)
  }

  @Test func `A full standard output fails the run of one image`() async throws {
    let fixture = try CommandFixture()
    let thumbs = "'\(RunningCommand.executable.path)'"
    let script = "\(thumbs) \(fixture.server.url("/a.png")) -o - --no-cache -q > /dev/full; echo $?; exit"
    let result = try await fixture.start([], setup: script).result()
    #expect(result.output == "74\n" && result.errors.contains("standard output"))
  }

  @Test(arguments: [
    ["URL", "URL2", "-o", "a.jpg"], ["list.txt", "-o", "a.jpg"], ["URL", "-o", "a.jpg", "-s", "8,16"],
    ["URL", "-o", "a.jpg", "--name", "{stem}.{ext}"], ["URL", "-o", "a.jpg", "-x"],
    ["URL", "-o", "a.jpg", "--format", "png"], ["URL", "-o", "-", "--report", "-"], ["list.txt", "-o", "-"],
  ])
  func `A file for several images, or with options that say something else, is a usage error`(
    arguments: [String]
  ) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.list(["/a.png"])
    let words = arguments.map { $0.hasPrefix("URL") ? fixture.server.url("/\($0).png") : $0 }
    let result = try await fixture.start(words).result()
    #expect(result.ending == .exit(64) && result.output.isEmpty && fixture.requestCounts.isEmpty)
    let place = arguments.contains("-") ? "-o - is for one image" : "-o a.jpg names the file of one image"
    #expect(result.errors.contains(place))
  }

  /// The content of every file below the working directory, by name.
  private func contents(of fixture: CommandFixture) throws -> [String: Data] {
    try fixture.directory.files().reduce(into: [:]) { $0[$1] = try fixture.data($1) }
  }

  @Test(arguments: [
    ["--report", "list.txt"], ["--summary", "list.txt"], ["--gallery", "list.txt"], ["--report", "./list.txt"],
    ["--report", "link"], ["--report", "second-name"], ["--report", "list.txt", "--overwrite"],
    ["--report", "new", "--gallery", "new"], ["--report", "new", "--summary", "./new"],
    ["--summary", "new", "--gallery", "./new"], ["--report", "old.jsonl", "--gallery", "old.jsonl"],
    ["--report", "-", "--summary", "-"],
  ])
  func `One file for two purposes is a usage error, and no file changes`(options: [String]) async throws {
    let fixture = try fixture()
    let before = try contents(of: fixture)

    let result = try await fixture.start(["list.txt", "-o", "out", "--no-cache"] + options).result()

    #expect(result.ending == .exit(64))
    #expect(try contents(of: fixture) == before)
    #expect(fixture.server.requests.isEmpty)
  }

  @Test func `Writing the report to the manifest on standard input is a usage error`() async throws {
    let fixture = try fixture()
    let before = try contents(of: fixture)

    let result = try await fixture.start(
      ["-", "-o", "out", "--no-cache", "--report", "-"], setup: "exec < list.txt >> list.txt"
    ).result()

    #expect(result.ending == .exit(64))
    #expect(try contents(of: fixture) == before)
  }

  @Test(arguments: ["new", "./new/", "new/below/it"])
  func `Files inside an output directory that does not exist are created with it`(directory: String) async throws {
    let fixture = try CommandFixture()
    let names = ["r.jsonl", "page.html", "sum.json", "run.prom"].map { "new/\($0)" }
    let options = zip(["--report", "--gallery", "--summary", "--metrics"], names).flatMap { [$0, $1] }
    let list = try fixture.list(["/a.png"])

    let result = try await fixture.start(["fetch", list, "-o", directory, "--no-cache", "-q"] + options).result()

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try names.filter { try fixture.data($0).isEmpty } == [])
    #expect(try ReportedRow.all(in: fixture.text("new/r.jsonl")).map(\.paths) == [["a.png"]])
  }

  @Test(
    arguments: [
      (["--report", "new/r.jsonl", "--summary", "none/sum.json"], 73), (["--report", "list.txt"], 64),
      (["--report", "new/below/none/r.jsonl"], 73),
    ] as [([String], Int32)])
  func `A run that does not take place leaves no directory behind`(options: [String], code: Int32) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    let result = try await fixture.start(["fetch", list, "-o", "new/below", "--no-cache"] + options).result()

    #expect(result.ending == .exit(code))
    #expect(try fixture.directory.files() == [list])
  }

  @Test(arguments: [
    ["--report", "notes.txt"], ["--summary", "notes.txt"], ["--gallery", "notes.txt"], ["--summary", "old.jsonl"],
    ["--report", "old.jsonl", "--gallery", "none/page.html"], ["--report", "old.jsonl", "--summary", "none/sum.json"],
    ["--report", "old.jsonl", "--summary", "notes.txt"], ["--report", "old.jsonl", "-o", "notes.txt"],
    ["--report", "bulk.json"], ["--summary", "app.js.map"],
  ])
  func `A file that must not be replaced or cannot be created exits with 73, and no file changes`(
    options: [String]
  ) async throws {
    let fixture = try fixture()
    let before = try contents(of: fixture)

    let result = try await fixture.start(["list.txt", "-o", "out", "--no-cache"] + options).result()

    #expect(result.ending == .exit(73))
    #expect(result.errorLines.count == 1)
    #expect(try contents(of: fixture) == before)
    #expect(fixture.server.requests.isEmpty)
  }

  @Test func `A gallery is not replaced by a thumbnail, and follows links and pipes`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/page"])

    for page in ["out/../out/page", "out/page"] {
      #expect(try await fixture.fetch(list, "--name", "{stem}", "--gallery", page).ending == .exit(1))
      #expect(try fixture.report().first?.code == "output_conflict")
      #expect(try fixture.text("out/page").hasSuffix("</html>\n"))
    }

    try FileManager.default.createSymbolicLink(
      atPath: fixture.directory.path("link.html"), withDestinationPath: fixture.directory.path("new.html"))
    #expect(try await fixture.fetch(list, "-o", "else", "--gallery", "link.html").ending == .exit(0))
    #expect(try fixture.text("new.html").hasSuffix("</html>\n"))

    let piped = try await fixture.start(
      fixture.fetchArguments([list, "-o", "else", "--gallery", "pipe"]), setup: "mkfifo pipe; cat pipe > copy & true"
    ).result()
    #expect(piped.ending == .exit(0))
    #expect(try fixture.text("copy").hasSuffix("</html>\n"))
  }

  @Test func `The file that is judged is the one that was opened`() throws {
    let directory = try TemporaryDirectory()
    for (first, second) in [(Self.oldReport, "milk\n"), ("milk\n", Self.oldReport)] {
      _ = try directory.write(first, as: "r.jsonl")
      _ = try directory.write(second, as: "other")
      let file = try NamedFile(path: directory.path("r.jsonl"))
      #expect(GeneratedFile.report.mayReplace(file) == (first == Self.oldReport))

      #expect(rename(directory.path("other"), directory.path("r.jsonl")) == 0)
      #expect(!GeneratedFile.report.mayReplace(file))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "Only root may give a link away."), arguments: [true, false])
  func `A link of another user is not followed`(hasTarget: Bool) async throws {
    let fixture = try fixture()
    let target = hasTarget ? "old.jsonl" : "none"
    let link = fixture.directory.path("trap")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    #expect(lchown(link, 12345, 12345) == 0)
    let before = try (fixture.directory.files(), fixture.data("old.jsonl"))

    for options in [["--report", "trap"], ["--metrics", "trap", "--overwrite"]] {
      let result = try await fixture.start(["list.txt", "-o", "out", "--no-cache"] + options).result()
      #expect(result.ending == .exit(73))
      #expect(result.errors.contains("trap is a link of another user"), "\(result.errors)")
    }
    #expect(try fixture.directory.files() == before.0 && fixture.data("old.jsonl") == before.1)
  }

  @Test(arguments: ["--gallery", "--metrics"])
  func `A file that is replaced while the run lasts is not replaced by a thumbnail`(option: String) async throws {
    let fixture = try CommandFixture()
    try FileManager.default.createDirectory(atPath: fixture.directory.path("out"), withIntermediateDirectories: true)
    let list = try fixture.list(["/page"])
    let result = try await fixture.fetch(list, "--name", "{stem}", "--overwrite", option, "out/page")

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().first?.code == "output_conflict")
  }

  @Test func `Output of earlier runs is replaced, and other files only with --overwrite`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])
    let options = ["--summary", "sum.json", "--gallery", "page.html"]
    for _ in 0..<2 {
      #expect(try await fixture.start(fixture.fetchArguments([list] + options)).result().ending == .exit(0))
    }
    for name in ["report.jsonl", "sum.json", "page.html"] { _ = try fixture.directory.write("milk\n", as: name) }

    let all = try await fixture.start(fixture.fetchArguments([list, "--overwrite"] + options)).result()

    #expect(all.ending == .exit(0))
    #expect(try fixture.report().count == 1)
    #expect(try fixture.object("sum.json")["exit"] as? Int == 0)
    #expect(try fixture.text("page.html").hasSuffix("</html>\n"))
  }
}
