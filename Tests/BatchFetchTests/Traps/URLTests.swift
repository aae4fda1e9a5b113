import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

@Suite("URLs", .timeLimit(.minutes(10))) struct URLTests {
  @Test(arguments: [
    ("/a,b;c'd\"e", "/a,b;c'd%22e"), ("/a b\t|{}", "/a%20b|%7B%7D"), ("/ä/%C3%A4", "/%C3%A4/%C3%A4"),
    ("/100%/%20/%zz", "/100%/%20/%zz"), ("/a+b?c+d=e f", "/a+b?c+d=e%20f"), ("/x/../a/./b", "/a/b"),
    ("/icon.php?w=1&h=%2F#part", "/icon.php?w=1&h=%2F"), ("/no-extension", "/no-extension"), ("", "/"),
  ])
  func `The request target is the encoded form of the path and query`(path: String, target: String) async throws {
    let fixture = try PipelineFixture { _ in .image() }

    _ = try await fixture.pipeline().thumbnails(for: fixture.request(path))

    #expect(fixture.server.requests.map(\.target) == [target])
  }

  @Test func `The Host field contains the host and its port`() async throws {
    let fixture = try PipelineFixture { _ in .image() }

    _ = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(fixture.server.requests.first?.fields["host"] == "127.0.0.1:\(fixture.server.port)")
  }

  @Test func `One URL in several spellings is downloaded once`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let (pipeline, port) = (fixture.pipeline(), fixture.server.port)

    for text in [
      "http://127.0.0.1:\(port)/a b", "HTTP://127.1:\(port)/a%20b", "http://0x7f000001:\(port)/./x/../a b#part",
    ] {
      _ = try await pipeline.thumbnails(for: ThumbnailRequest(url: text, size: 16))
    }

    #expect(fixture.server.requests.count == 1)
  }

  @Test func `URLs that differ in query, case or user are different sources`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let (pipeline, port) = (fixture.pipeline(), fixture.server.port)

    for text in ["127.0.0.1:\(port)/a?w=1", "127.0.0.1:\(port)/a?w=2", "127.0.0.1:\(port)/A", "u@127.0.0.1:\(port)/A"] {
      _ = try await pipeline.thumbnails(for: ThumbnailRequest(url: "http://\(text)", size: 16))
    }

    #expect(fixture.server.requests.count == 4)
  }
}
