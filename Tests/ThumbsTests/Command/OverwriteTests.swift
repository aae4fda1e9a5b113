import Foundation
import ImageCache
import TestSupport
import Testing

/// Tests which files a run may replace in its output directory.
@Suite("thumbs fetch: existing files", .timeLimit(.minutes(20))) struct OverwriteTests {
  private func write(_ bytes: [UInt8], as name: String, in fixture: CommandFixture) throws {
    let directory = URL(fileURLWithPath: fixture.directory.path(name)).deletingLastPathComponent().path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    _ = try fixture.directory.write(bytes, as: name)
  }

  private func codes(_ fixture: CommandFixture) throws -> [String] { try fixture.report().map { $0.code ?? $0.status } }

  @Test(arguments: [[], ["--overwrite"]])
  func `Photos are never replaced by their own thumbnails`(options: [String]) async throws {
    let fixture = try CommandFixture()
    let names = (0..<8).map { "photo\($0).jpg" }
    let photos = (0..<8).map { SampleImage.jpeg(width: 400, height: 300, seed: $0) }
    for (name, photo) in zip(names, photos) { try write(photo, as: name, in: fixture) }
    let arguments = ["--allow-file", "-o", ".", "--report", "r.jsonl", "--cache-dir", "cache", "-"] + options
    let command = try fixture.start(arguments, input: .pipe)

    command.write(names.joined(separator: "\n"))
    command.closeInput()

    #expect(await command.result().ending == .exit(1))
    for (name, photo) in zip(names, photos) { #expect(try Array(fixture.data(name)) == photo) }

    let codes = try ReportedRow.all(in: fixture.text("r.jsonl")).map(\.code)
    #expect(codes == Array(repeating: "output_conflict", count: 8))
  }

  /// The form in which the command gets its manifest.
  enum ManifestInput: String, CaseIterable { case file, redirect, pipe }

  @Test(arguments: ManifestInput.allCases)
  func `A thumbnail does not replace the source of a later row`(input: ManifestInput) async throws {
    let fixture = try CommandFixture()
    let photo = SampleImage.png(width: 300, height: 200, seed: 3)
    try write(photo, as: "out/b.png", in: fixture)
    let source = "FILE://" + fixture.directory.path("out/b.png")
    let rows = (0..<500).map { fixture.server.url("/\($0)/b.png") } + [source]
    _ = try fixture.directory.write(rows.joined(separator: "\n"), as: "list.txt")
    let arguments = fixture.fetchArguments(["--allow-file", "--overwrite", input == .file ? "list.txt" : "-"])
    let command = try fixture.start(
      arguments, setup: input == .redirect ? "exec < list.txt" : nil, input: input == .pipe ? .pipe : .none)

    if input == .pipe { command.write(rows.joined(separator: "\n")) }
    command.closeInput()

    #expect(await command.result().ending == .exit(1))
    #expect(try fixture.output("b.png") == photo)
    #expect(try fixture.report().first?.code == "output_conflict")
    #expect(try fixture.report().filter { $0.status == "ok" }.count == 500)
  }

  @Test func `A retry does not replace the source of a row that it retries later`() async throws {
    let isHealthy = Gate()
    let fixture = try CommandFixture { _ in isHealthy.isOpen ? .icon() : .http(503) }
    let photo = SampleImage.png(width: 300, height: 200, seed: 3)
    try write(photo, as: "out/b.png", in: fixture)
    let rows = [fixture.server.url("/b.png"), "file://" + fixture.directory.path("out/b.png")]
    _ = try fixture.directory.write(rows.joined(separator: "\n"), as: "list.txt")

    #expect(try await fixture.fetch("list.txt").ending == .exit(75))

    isHealthy.open()
    let retry = try await fixture.run(
      "retry", "--all-failed", "report.jsonl", "--allow-file", "--overwrite", "--no-cache", "--report", "r.jsonl")

    #expect(retry.ending == .exit(1))
    #expect(try fixture.output("b.png") == photo)

    let codes = try ReportedRow.all(in: fixture.text("r.jsonl")).map { $0.code ?? $0.status }
    #expect(codes == ["output_conflict", "ok"])
  }

  @Test func `Without --overwrite, a foreign file stays unchanged and fails its row`() async throws {
    let fixture = try CommandFixture()
    let mine = SampleImage.png(width: 99, height: 99)
    try write(mine, as: "out/b.png", in: fixture)
    let list = try fixture.list(["/a.png", "/b.png", "/c.png"])

    #expect(try await fixture.fetch(list).ending == .exit(1))
    #expect(try codes(fixture) == ["ok", "output_exists", "ok"])
    #expect(try fixture.output("b.png") == mine)
    #expect(try await fixture.fetch(list, "--overwrite").ending == .exit(0))
    #expect(ImageFile(try fixture.output("b.png"))?.width == 40)
  }

  @Test(arguments: ["jpeg", "png", "webp", "gif"])
  func `A later run replaces the thumbnails of earlier runs without --overwrite`(format: String) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png", "/b.png"])
    for size in ["32", "16", "24"] {
      #expect(try await fixture.fetch(list, "--size", size, "--format", format).ending == .exit(0))
      let name = format == "jpeg" ? "a.jpg" : "a.\(format)"
      #expect(ImageFile(try fixture.output(name))?.width == Int(size))
    }
  }

  @Test func `An edited thumbnail is not replaced without --overwrite`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    #expect(try await fixture.fetch(list, "--size", "32", "--format", "jpeg").ending == .exit(0))

    var edited = try fixture.output("a.jpg")
    edited[edited.count - 10] ^= 1
    try write(edited, as: "out/a.jpg", in: fixture)

    #expect(try await fixture.fetch(list, "--size", "16", "--format", "jpeg").ending == .exit(1))
    #expect(try fixture.output("a.jpg") == edited)
  }

  @Test func `A manifest in the output directory is not replaced even with --overwrite`() async throws {
    let fixture = try CommandFixture()
    let text = fixture.server.url("/list") + "\n"
    try write(Array(text.utf8), as: "out/list", in: fixture)

    let result = try await fixture.fetch("out/list", "--name", "{stem}", "--overwrite")

    #expect(result.ending == .exit(1))
    #expect(try fixture.text("out/list") == text)
    #expect(try codes(fixture) == ["output_conflict"])
  }
}
