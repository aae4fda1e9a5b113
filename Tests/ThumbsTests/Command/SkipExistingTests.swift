import CGlibc
import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch --skip-existing", .timeLimit(.minutes(20))) struct SkipExistingTests {
  private static let attribute = "user.thumbs"
  private static let paths = ["/a.png", "/b.png", "/c.png"]

  /// A fixture after a run whose images no cache may store.
  private static func filled(_ options: String...) async throws -> CommandFixture {
    let fixture = try CommandFixture { _ in .icon(fields: ["Cache-Control": "no-store"]) }
    _ = try fixture.list(paths)
    let result = try await fixture.start(fixture.fetchArguments(["list.txt"] + options)).result()
    #expect(result.ending == .exit(0), "\(result.errors)")
    return fixture
  }

  /// Runs again with the option, and returns the paths that were requested.
  private static func again(_ fixture: CommandFixture, _ options: String...) async throws -> [String] {
    let count = fixture.server.requests.count
    let arguments = fixture.fetchArguments(["list.txt", "--skip-existing", "--summary", "sum.json"] + options)
    let result = try await fixture.start(arguments).result()
    #expect(result.ending == .exit(0), "\(result.errors)")
    return fixture.server.requests.dropFirst(count).map(\.target).sorted()
  }

  private static let hasAttributes: Bool = {
    guard let directory = try? TemporaryDirectory(), let path = try? directory.write("", as: "file") else {
      return false
    }
    return setxattr(path, attribute, "x", 1, 0) == 0
  }()

  @Test(
    .enabled(if: hasAttributes),
    arguments: [[], ["-s", "8,16"], ["--format", "jpeg"], ["--name", "{hash:2}/{index}.{ext}"]])
  func `Only images whose files are missing are requested`(options: [String]) async throws {
    let fixture = try await Self.filled()
    let before = try fixture.outputs()
    #expect(try await Self.again(fixture) == [])
    #expect(try fixture.outputs() == before)
    #expect(try fixture.report().map(\.origin) == ["existing", "existing", "existing"])
    #expect(try fixture.report().flatMap(\.paths) == before)
    let origins = try fixture.object("sum.json")["origins"] as? [[String: Any]]
    #expect(origins?.first?["origin"] as? String == "existing" && origins?.first?["items"] as? Int == 3)

    try FileManager.default.removeItem(atPath: fixture.directory.path("out/\(before[1])"))
    #expect(try await Self.again(fixture) == ["/b.png"])
    #expect(try fixture.outputs() == before)
  }

  @Test(.enabled(if: hasAttributes)) func `A file of another source or spec is not left alone`() async throws {
    let fixture = try await Self.filled("--name", "{index}.{ext}")
    #expect(try await Self.again(fixture, "--name", "{index}.{ext}", "-s", "16") == Self.paths)
    #expect(try await Self.again(fixture, "--name", "{index}.{ext}", "-s", "16") == [])

    _ = try fixture.list(["/b.png", "/a.png", "/c.png"])
    #expect(try await Self.again(fixture, "--name", "{index}.{ext}", "-s", "16") == ["/a.png", "/b.png"])
    #expect(try await Self.again(fixture, "--name", "{index}.{ext}", "-s", "16", "--placeholders") == Self.paths)
  }

  @Test(.enabled(if: hasAttributes)) func `A file that lost its attribute or was changed is not left alone`()
    async throws
  {
    let fixture = try await Self.filled()
    #expect(removexattr(fixture.directory.path("out/a.png"), Self.attribute) == 0)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.directory.path("out/c.png")))
    try file.seek(toOffset: 100)
    try file.write(contentsOf: Data([1, 2, 3, 4]))
    try file.close()

    #expect(try await Self.again(fixture, "--overwrite") == ["/a.png", "/c.png"])
    // The file that had the right bytes has the attribute again.
    #expect(try await Self.again(fixture) == [])
  }

  @Test func `A gallery shows the files that were left alone`() async throws {
    let fixture = try await Self.filled()
    _ = try await Self.again(fixture, "--gallery", "page.html")

    let page = try fixture.text("page.html")
    for path in Self.paths { #expect(page.contains("out\(path)")) }
  }
}
