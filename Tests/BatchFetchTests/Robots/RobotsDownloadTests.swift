import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// Downloads of a downloader that obeys robots.txt.
@Suite(.timeLimit(.minutes(2))) struct RobotsDownloadTests {
  private static let rules = Array("User-agent: thumbs\nDisallow: /private\n".utf8)

  private static func downloader(
    _ transport: ScriptedTransport, _ change: (inout Downloader.Configuration) -> Void = { _ in }
  ) -> Downloader {
    let configuration = Downloader.Configuration.prompt.with { $0.robots = .obeyed }
    return Downloader(configuration.with(change), transport: transport)
  }

  /// Downloads each path of `a.test` and returns the failures, nil for a success.
  private static func failures(_ paths: [String], _ downloader: Downloader) async throws -> [FailureCode?] {
    var codes: [FailureCode?] = []
    for path in paths { codes.append(await downloader.start(try DownloadRequest(path)).outcome.only().failure?.code) }
    return codes
  }

  @Test func `The robots.txt of a caller is another download than that of the rules`() async throws {
    let transport = ScriptedTransport { request, number in
      let body = request.source.lastPathComponent == "robots.txt" ? Self.rules : [1]
      return [.head(200, [:])] + (number == 1 ? [.hold] : []) + [.bytes(body), .end]
    }
    let downloader = Self.downloader(transport)
    var request = try DownloadRequest("robots.txt")
    request.inspection = { _ throws(FetchFailure) in throw FetchFailure(.image(.notAnImage), "It is a text.") }

    let file = downloader.start(request).outcome
    let first = await transport.exchanges.values(count: 1)[0]
    #expect(try await Self.failures(["a", "private"], downloader) == [nil, .blockedRobots])
    first.resume()

    #expect(await file.only().failure?.code == .image(.notAnImage))
    #expect(transport.paths == ["robots.txt", "robots.txt", "a"])
  }
}
