import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch --robots", .timeLimit(.minutes(20))) struct RobotsCommandTests {
  private static let file = Array("User-agent: *\nDisallow: /private/\n".utf8)
  private static let paths = (0..<25).flatMap { ["/\($0).png", "/private/\($0).png"] }

  /// Returns a fixture whose server has this robots.txt, and an image at every other path.
  private static func fixture(
    _ robots: ServerReply, image: ServerReply = .icon(fields: [:])
  ) throws -> CommandFixture {
    try CommandFixture { $0.target == "/robots.txt" ? robots : image }
  }

  @Test func `Images that robots.txt does not allow are not requested, and fail for good`() async throws {
    let fixture = try Self.fixture(.http(200, [:], Self.file))

    let result = try await fixture.fetch(fixture.list(Self.paths), "--robots", "--retries", "3")

    #expect(result.ending == .exit(1))
    let rows = try fixture.report()
    #expect(rows.map(\.code) == (0..<50).map { $0 % 2 == 0 ? nil : "blocked_robots" })
    #expect(rows.allSatisfy { $0.status == "ok" || $0.retryable == false })
    #expect(fixture.requestCounts["/robots.txt"] == 1 && fixture.server.requests.count == 26)
    #expect(!fixture.server.requests.contains { $0.target.hasPrefix("/private/") })
  }

  @Test(arguments: [(404, nil), (500, "blocked_robots"), (503, "blocked_robots")] as [(Int, String?)])
  func `A missing robots.txt allows everything, and one that a server cannot deliver nothing`(
    status: Int, code: String?
  ) async throws {
    let fixture = try Self.fixture(.http(status, [:], Self.file))

    let result = try await fixture.fetch(fixture.list(Self.paths), "--robots")

    #expect(result.ending == .exit(code == nil ? 0 : 1))
    #expect(try fixture.report().allSatisfy { $0.code == code })
    #expect(fixture.requestCounts["/robots.txt"] == 1)
    #expect(fixture.server.requests.count == (code == nil ? 51 : 1))
  }

  @Test func `The target of a redirected robots.txt holds for the host that redirected`() async throws {
    let other = try LoopbackServer(at: "127.0.1.1") { _ in .http(200, [:], Self.file) }
    let fixture = try Self.fixture(.http(301, ["Location": other.url("/rules.txt")]))

    let result = try await fixture.fetch(fixture.list(Self.paths), "--robots")

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().count { $0.code == "blocked_robots" } == 25)
    #expect(other.requests.map(\.target) == ["/rules.txt"])
    #expect(fixture.requestCounts["/robots.txt"] == 1 && fixture.server.requests.count == 26)
  }

  @Test(arguments: [[], ["--robots"]])
  func `An image with a tag against its use is blocked, but only with the option`(options: [String]) async throws {
    let fixture = try Self.fixture(.http(404), image: .icon(fields: ["X-Robots-Tag": "noimageindex"]))
    let list = try fixture.list(["/a.png", "/b.png"])

    let result = try await fixture.start(fixture.fetchArguments([list, "--retries", "3"] + options)).result()

    let isBlocked = !options.isEmpty
    #expect(result.ending == .exit(isBlocked ? 1 : 0))
    #expect(try fixture.report().allSatisfy { $0.code == (isBlocked ? "blocked_robots" : nil) })
    #expect(try fixture.report().allSatisfy { $0.retryable == (isBlocked ? false : nil) })
    #expect(fixture.requestCounts == ["/a.png": 1, "/b.png": 1].merging(isBlocked ? ["/robots.txt": 1] : [:]) { $1 })
  }

  @Test func `A redirect to an image that its host does not allow is blocked`() async throws {
    let other = try LoopbackServer(at: "127.0.1.2") { request in
      request.target == "/robots.txt" ? .http(200, [:], Self.file) : .icon()
    }
    let fixture = try CommandFixture { request in
      request.target == "/robots.txt" ? .http(404) : .http(302, ["Location": other.url(request.target)])
    }

    let result = try await fixture.fetch(fixture.list(Self.paths), "--robots")

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().map(\.code) == (0..<50).map { $0 % 2 == 0 ? nil : "blocked_robots" })
    #expect(other.requests.count { $0.target == "/robots.txt" } == 1 && other.requests.count == 26)
  }
}
