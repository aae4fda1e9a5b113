import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// Downloads of a downloader that obeys robots.txt.
@Suite(.timeLimit(.minutes(10))) struct RobotsDownloadTests {
  private static let rules = Array("User-agent: thumbs\nDisallow: /private\n".utf8)

  private static func downloader(
    _ transport: ScriptedTransport, _ change: (inout Downloader.Configuration) -> Void = { _ in }
  ) -> Downloader {
    let configuration = Downloader.Configuration.prompt.with { $0.robots = .obeyed }
    return Downloader(configuration.with(change), transport: transport)
  }

  /// Downloads each path of a host, one after the other, and returns the failures; nil for a success.
  private static func failures(
    _ paths: [String], host: String = "a.test", headerFields: HTTPFields = [:], _ downloader: Downloader
  ) async throws -> [FailureCode?] {
    var codes: [FailureCode?] = []
    for path in paths {
      let request = try DownloadRequest(path, host: host, headerFields: headerFields)
      codes.append(await downloader.start(request).outcome.only().failure?.code)
    }
    return codes
  }

  @Test func `The robots.txt of a caller is another download than that of the rules`() async throws {
    let transport = ScriptedTransport { request, number in
      let body = request.source.lastPathComponent == "robots.txt" ? Self.rules : [1]
      return [.head(200, [:])] + (number == 1 ? [.hold] : []) + [.bytes(body), .end]
    }
    let downloader = Self.downloader(transport)
    var request = try DownloadRequest("robots.txt")
    request.inspection = { _ throws(FetchFailure) in throw FetchFailure(.badEncoding, "It is a text.") }

    let file = downloader.start(request).outcome
    let first = await transport.exchanges.values(count: 1)[0]
    #expect(try await Self.failures(["a", "private"], downloader) == [nil, .blockedRobots])
    first.resume()

    #expect(await file.only().failure?.code == .badEncoding)
    #expect(transport.paths == ["robots.txt", "robots.txt", "a"])
  }

  @Test(arguments: [(0, 5, true), (0, 6, false), (5, 5, true), (7, 7, true), (7, 8, false)])
  func `At least five redirects of a robots.txt are followed, whatever the limit for images`(
    limit: Int, hops: Int, isObeyed: Bool
  ) async throws {
    let transport = ScriptedTransport { request, _ in
      let path = request.source.lastPathComponent
      if path == "private" { return .response([1]) }
      let hop = Int(path) ?? 0
      return hop < hops ? [.head(301, [.location: "/\(hop + 1)"]), .end] : .response(Self.rules)
    }
    let downloader = Self.downloader(transport) { $0.limits.maxRedirects = limit }

    #expect(try await Self.failures(["private"], downloader) == [isObeyed ? .blockedRobots : nil])
    #expect(transport.paths.count { $0 != "private" } == (isObeyed ? hops : hops - 1) + 1)
  }

  @Test func `The limit for redirects of images stays`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "robots.txt"
        ? [.head(404, [:]), .end] : [.head(301, [.location: "/other"]), .end]
    }
    let downloader = Self.downloader(transport) { $0.limits.maxRedirects = 0 }
    #expect(try await Self.failures(["a"], downloader) == [.tooManyRedirects])
  }

  @Test(arguments: [100, 200 << 10, RobotsFile.maxBytes, RobotsFile.maxBytes + 1, 2 << 20], [true, false])
  func `The size of a robots.txt is not limited like that of an image`(count: Int, isDeclared: Bool) async throws {
    let file = Self.rules + Array(repeating: UInt8(ascii: "#"), count: count)
    let transport = ScriptedTransport { request, _ in
      guard request.source.lastPathComponent == "robots.txt" else { return .response(Array(repeating: 1, count: 60)) }
      let chunks = stride(from: 0, to: file.count, by: 1 << 16).map { Array(file[$0...].prefix(1 << 16)) }
      return [.head(200, isDeclared ? [.contentLength: "\(file.count)"] : [:])] + chunks.map { .bytes($0) } + [.end]
    }
    let downloader = Self.downloader(transport) { $0.limits.maxBytes = 50 }

    #expect(try await Self.failures(["private", "a"], downloader) == [.blockedRobots, .tooLargeBytes])
    #expect(transport.paths == ["robots.txt", "a"])
  }

  @Test func `An endless robots.txt is read up to its limit, and the transfer given up`() async throws {
    let transport = ScriptedTransport { request, _ in
      let isFile = request.source.lastPathComponent == "robots.txt"
      return isFile
        ? [.head(200, [:]), .bytes(Self.rules), .bytes(Array(repeating: 0x23, count: RobotsFile.maxBytes)), .hold]
        : .response([1])
    }
    let downloader = Self.downloader(transport)
    #expect(try await Self.failures(["private", "a"], downloader) == [.blockedRobots, nil])
  }

  @Test func `A robots.txt that cannot be fetched is tried as often as an image, and once for all rows of a minute`()
    async throws
  {
    let transport = ScriptedTransport { _, _ in [.fail(.timeoutFirstByte)] }
    let clock = ManualClock()
    let downloader = Self.downloader(transport) { $0.clock = clock }

    #expect(try await Self.failures(["a", "b", "c"], downloader) == Array(repeating: .timeoutFirstByte, count: 3))
    #expect(transport.paths == Array(repeating: "robots.txt", count: 4))
    clock.advance(by: .seconds(60))
    #expect(try await Self.failures(["d"], downloader) == [.timeoutFirstByte])
    #expect(transport.paths == Array(repeating: "robots.txt", count: 8))
  }

  @Test func `An image that is confirmed with a tag against its use is blocked`() async throws {
    let name = try #require(HTTPField.Name("X-Robots-Tag"))
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "robots.txt"
        ? [.head(404, [:]), .end] : [.head(304, [name: "noai"]), .end]
    }
    let request = try DownloadRequest("a", headerFields: [.ifNoneMatch: "\"1\""])
    let outcome = await Self.downloader(transport).start(request).outcome.only()
    #expect(outcome.failure?.code == .blockedRobots)
  }

  @Test func `The product token is that of the header field that is sent, by host and by request`() async throws {
    let file = Array("User-agent: MyBot\nDisallow: /mine\n\nUser-agent: thumbs\nDisallow: /ours\n".utf8)
    let transport = ScriptedTransport { request, _ in
      switch request.source.lastPathComponent {
      case "robots.txt": .response(file)
      case "moved": [.head(302, [.location: "http://b.test/mine"]), .end]
      default: .response([1])
      }
    }
    let pattern = try HostPattern("b.test")
    let downloader = Self.downloader(transport) {
      $0.hosts[pattern] = HostRule(headerFields: [.userAgent: "MyBot/1.2"])
    }

    #expect(try await Self.failures(["mine", "ours", "moved"], downloader) == [nil, .blockedRobots, .blockedRobots])
    #expect(try await Self.failures(["mine", "ours"], host: "b.test", downloader) == [.blockedRobots, nil])
    let fields: HTTPFields = [.userAgent: "mybot"]
    #expect(try await Self.failures(["mine", "ours"], headerFields: fields, downloader) == [.blockedRobots, nil])
    let files = transport.requests.filter { $0.source.lastPathComponent == "robots.txt" }
    #expect(files.map { $0.headerFields[.userAgent] } == ["thumbs/\(Downloader.version)", "MyBot/1.2", "mybot"])
  }

  @Test func `A tag applies to the sender of the request`() async throws {
    let name = try #require(HTTPField.Name("X-Robots-Tag"))
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "robots.txt"
        ? [.head(404, [:]), .end] : .response([1], fields: [name: "mybot: noindex"])
    }
    let downloader = Self.downloader(transport)

    #expect(try await Self.failures(["a"], downloader) == [nil])
    let fields: HTTPFields = [.userAgent: "MyBot/2"]
    #expect(try await Self.failures(["a"], headerFields: fields, downloader) == [.blockedRobots])
  }
}
