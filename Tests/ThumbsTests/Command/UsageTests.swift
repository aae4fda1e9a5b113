import TestSupport
import Testing

@Suite("thumbs: usage", .timeLimit(.minutes(1))) struct UsageTests {
  @Test(arguments: [
    (["fetch", "list.txt", "--nope"], "--nope"), (["fetch", "list.txt", "--size", "big"], "big"),
    (["fetch", "list.txt", "--size", "0"], "--size"), (["fetch", "list.txt", "--concurrency", "0"], "--concurrency"),
    (["fetch", "list.txt", "-q", "-v"], "--quiet"), (["cache", "nope"], "nope"),
    (["cache", "ls", "--format", "xml"], "xml"), (["fetch"], "-"), ([], "apps.plist"),
  ])
  func `A wrong command line is 64, is named, and writes nothing`(arguments: [String], name: String) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])
    let result = try await fixture.start(arguments).result()
    #expect(result.ending == .exit(64))
    #expect(result.output.isEmpty)
    #expect(result.errors.hasPrefix("Error: ") && result.errors.contains(name))
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.directory.files() == [list])
  }

  @Test func `Without a manifest, the message says how to read standard input`() async throws {
    let result = try await CommandFixture().run("fetch")
    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("or - to read one from standard input"))
  }

  @Test func `The version is printed alone`() async throws {
    let result = try await CommandFixture().run("--version")
    #expect(result.ending == .exit(0))
    #expect(result.output.wholeMatch(of: #/\d+\.\d+\.\d+\n/#) != nil)
    #expect(result.errors.isEmpty)
  }

  @Test(arguments: [
    (["--help"], ["fetch (default)", "cache"]), (["fetch", "--help"], ["--size", "--report", "Exit status"]),
    (["cache", "--help"], ["stats", "ls", "clear", "dir"]),
  ])
  func `Help goes to standard output`(arguments: [String], words: [String]) async throws {
    let result = try await CommandFixture().start(arguments).result()
    #expect(result.ending == .exit(0))
    #expect(words.filter { !result.output.contains($0) } == [])
    #expect(result.errors.isEmpty)
  }
}
