import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch --dry-run", .timeLimit(.minutes(20))) struct DryRunTests {
  @Test func `A dry run prints every file and its URL, sends no request and writes nothing`() async throws {
    let fixture = try CommandFixture()
    let list = "http://a.example/x.png\nhttp://b.example/x.png\nhttp://user:secret@a.example/y.jpg\n"
    _ = try fixture.directory.write(list, as: "list.txt")
    let before = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)

    let result = try await fixture.fetch("--dry-run", "--size", "8", "--size", "16@2x", "--format", "png", "list.txt")

    #expect(result.ending == .exit(0) && result.errors.isEmpty)

    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 6)
    #expect(lines[0] == "out/x-8x8.png\thttp://a.example/x.png")
    #expect(lines[1] == "out/x-16x16@2x.png\thttp://a.example/x.png")
    #expect(lines[2].hasPrefix("out/x-8x8-") && lines[2].hasSuffix("\thttp://b.example/x.png"))
    #expect(lines[4] == "out/y-8x8.png\thttp://***@a.example/y.jpg")
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path) == before)
  }

  @Test func `The files of a run have the names that its dry run printed`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a/x.png", "/b/x.png", "/y.png?v=1"])

    let shown = try await fixture.fetch("--dry-run", list)

    #expect(fixture.server.requests.isEmpty)

    _ = try await fixture.fetch(list)
    let names = shown.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }

    #expect(
      names.map { $0.replacing("out/", with: "").replacing("{ext}", with: "png") }.sorted() == (try fixture.outputs()))
  }

  @Test func `A dry run prints an error for each unusable row and lists the others`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("gopher://a/b\nhttp://a.example/x.png\nfile:///etc/hostname\n", as: "list.txt")

    let result = try await fixture.fetch("--dry-run", "list.txt")

    #expect(result.ending == .exit(1))
    #expect(result.output == "out/x.{ext}\thttp://a.example/x.png\n")
    #expect(result.errorLines.count == 2)

    let allowed = try await fixture.fetch("--dry-run", "--allow-file", "list.txt")
    #expect(allowed.output.hasSuffix("\nout/hostname.{ext}\tfile:///etc/hostname\n"))
  }
}
