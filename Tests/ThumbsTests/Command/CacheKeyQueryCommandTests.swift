import Foundation
import TestSupport
import Testing

/// `--cache-key-query`: signed URLs of the same image.
@Suite("thumbs fetch --cache-key-query", .timeLimit(.minutes(20))) struct CacheKeyQueryCommandTests {
  private func requests(_ paths: [String], _ options: String...) async throws -> [String] {
    let fixture = try CommandFixture { _ in .icon() }
    for path in paths {
      let arguments = fixture.fetchArguments([try fixture.list([path]), "--overwrite"] + options)
      let result = try await fixture.start(arguments).result()
      #expect(result.ending == .exit(0))
    }
    return fixture.server.requests.map(\.target)
  }

  @Test func `URLs that differ in other parameters only are downloaded once, also by several runs`() async throws {
    let paths = ["/a.png?id=1&sig=1", "/a.png?id=1&sig=2", "/a.png?id=2&sig=3"]

    #expect(try await requests(paths) == paths)
    #expect(try await requests(paths, "--cache-key-query", "id,v") == [paths[0], paths[2]])
    #expect(try await requests(paths, "--cache-key-query", "none") == [paths[0]])
  }

  @Test(arguments: ["", "a,,b", "a=1"])
  func `Names that no parameter can have are rejected`(names: String) async throws {
    let fixture = try CommandFixture { _ in .icon() }
    let result = try await fixture.run("fetch", "list.txt", "--cache-key-query", names)
    #expect(result.ending == .exit(64) && result.errors.contains("give names of query parameters"))
  }
}
