import DownloadSupport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

/// Requests that a closure of the caller changes before each attempt.
@Suite(.timeLimit(.minutes(10))) struct RequestModifierTests {
  /// A clock that stands still, for modifiers that never end by themselves.
  private let never = ManualClock()

  /// An error of a modifier's own.
  private struct Unexpected: Error {}

  private func request(_ modifier: RequestModifier) throws -> DownloadRequest {
    var request = try DownloadRequest("x", headerFields: [.referer: "r"])
    request.modifier = modifier
    return request
  }

  private func query(_ number: Int) -> RequestModifier {
    RequestModifier(id: "\(number)") { attempt in
      attempt.source = try SourceURL("\(attempt.source)?attempt=\(attempt.number)")
      attempt.headerFields[.authorization] = "token \(attempt.number)"
    }
  }

  @Test func `A modifier is called before each attempt, and knows why the last one failed`() async throws {
    let transport = ScriptedTransport { _, number in
      number < 3 ? .response([], status: number == 1 ? 503 : 401) : .response([1])
    }
    let attempts = Recorder<RequestAttempt>()
    var request = try request(
      RequestModifier(id: "user") { attempt in
        attempts.record(attempt)
        attempt.headerFields[.authorization] = "token \(attempt.number)"
        attempt.source = try SourceURL("\(attempt.source)?signature=\(attempt.number)")
      })
    request.retry = RetryPolicy(limit: 3, base: .zero)
    request.retry?.additionalCodes = [.http(401)]

    let download = try await Downloader(.prompt, transport: transport).download(request)

    #expect(download.attempts == 3 && download.finalURL == nil)
    #expect(transport.requests.map { $0.headerFields[.authorization] } == ["token 1", "token 2", "token 3"])
    #expect(transport.paths == ["x?signature=1", "x?signature=2", "x?signature=3"])
    #expect(attempts.values.map(\.number) == [1, 2, 3])
    #expect(attempts.values.map(\.lastFailure) == [nil, .http(503), .http(401)])
    #expect(attempts.values.allSatisfy { $0.source == request.source && $0.headerFields == request.headerFields })
  }

  @Test func `A redirect belongs to the same attempt, and another host does not get the token`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.host == "a.test"
        ? [.head(302, [.location: "http://b.test/y"]), .end] : .response([1])
    }
    let calls = Counter()
    let request = try request(
      RequestModifier(id: "user") { attempt in
        _ = calls.next()
        attempt.headerFields[.authorization] = "secret"
      })

    let download = try await Downloader(.prompt, transport: transport).download(request)

    #expect(download.finalURL == "http://b.test/y")
    #expect(transport.requests.map { $0.headerFields[.authorization] } == ["secret", nil])
    #expect(calls.value == 1)
  }

  @Test(
    arguments: [
      (RequestModifier(id: "host") { $0.source = try SourceURL("http://b.test/x") }, FailureCode.badURL),
      (RequestModifier(id: "scheme") { $0.source = try SourceURL("https://a.test/x") }, .badURL),
      (RequestModifier(id: "length") { $0.headerFields[.contentLength] = "1" }, .badRow),
      (RequestModifier(id: "failure") { _ in throw FetchFailure(.tls, "No token.") }, .tls),
      (RequestModifier(id: "error") { _ in throw Unexpected() }, .requestFailed),
    ] as [(RequestModifier, FailureCode)])
  func `A modifier that fails, or changes what it must not change, fails the download without a request`(
    modifier: RequestModifier, code: FailureCode
  ) async throws {
    let transport = ScriptedTransport { _, _ in .response([1]) }
    let downloader = Downloader(.prompt, transport: transport)

    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(request(modifier)) }
    let other = try await downloader.download(DownloadRequest("y"))

    #expect(failure?.code == code && failure?.attempts == 1)
    #expect(other.body == [1] && transport.paths == ["y"])
  }

  @Test func `A failure of a modifier does not count as one of the image or its host`() async throws {
    let transport = ScriptedTransport { _, _ in .response([1]) }
    let downloader = Downloader(.prompt.with { $0.maxHostFailures = 1 }, transport: transport)
    var failure = FetchFailure(.connectFailed, "No token.", httpStatus: 404)
    failure.retryAt = .distantFuture
    var broken = try request(RequestModifier(id: "token") { [failure] _ in throw failure })
    broken.retry = RetryPolicy(limit: 0)

    let reported = await downloader.start(broken).outcome.only().failure
    let other = try await downloader.download(DownloadRequest("y"))

    #expect(reported?.code == .connectFailed && reported?.response == nil && reported?.retryAt == nil)
    #expect(other.body == [1])
  }

  @Test func `A signed URL is not in the list of redirects, and a pause does not begin an attempt`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "y"
        ? .response([1]) : [.hold, .head(302, [.location: "/y"]), .end]
    }
    let attempts = Recorder<Int>()
    let request = try request(
      RequestModifier(id: "sign") { attempt in
        attempts.record(attempt.number)
        attempt.source = try SourceURL("\(attempt.source)?signature=1")
      })
    let (token, outcome) = Downloader(.prompt, transport: transport).start(request)
    _ = await transport.exchanges.values(count: 1)
    token.pause()
    token.resume()
    await transport.exchanges.values(count: 2)[1].resume()

    let download = try await outcome.only().get()
    #expect(download.redirects.map(\.url) == ["http://a.test/x"] && download.finalURL == "http://a.test/y")
    #expect(attempts.values == [1, 1] && download.attempts == 1)
  }

  @Test(arguments: [(304, .ifNoneMatch, "\"1\""), (206, .range, "bytes=0-0")] as [(Int, HTTPField.Name, String)])
  func `Conditions and ranges of a modifier count like those of the request`(
    status: Int, field: HTTPField.Name, value: String
  ) async throws {
    let fields: HTTPFields = status == 206 ? [.contentRange: "bytes 0-0/3"] : [:]
    let transport = ScriptedTransport { _, _ in .response(status == 206 ? [1] : [], status: status, fields: fields) }
    let request = try request(RequestModifier(id: "condition") { $0.headerFields[field] = value })

    let download = try await Downloader(.prompt, transport: transport).download(request)

    #expect(download.response.status.code == status)
  }

  @Test func `A path that a modifier has changed must be allowed by robots.txt`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "robots.txt"
        ? .response(Array("User-agent: *\nDisallow: /secret".utf8)) : .response([1])
    }
    let downloader = Downloader(.prompt.with { $0.robots = .obeyed }, transport: transport)
    let request = try request(RequestModifier(id: "path") { $0.source = try SourceURL("http://a.test/secret") })

    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(request) }

    #expect(failure?.code == .blockedRobots && transport.paths == ["robots.txt"])
  }

  @Test func `A modifier that hangs fails its own request at the deadline, and no other host waits for it`()
    async throws
  {
    let clock = ManualClock()
    let transport = ScriptedTransport { _, _ in .response([1]) }
    let downloader = Downloader(.prompt.with { $0.clock = clock }, transport: transport)
    var hanging = try request(RequestModifier(id: "hangs") { [never] _ in try await never.sleep(for: .seconds(1)) })
    hanging.retry = RetryPolicy(limit: 0)
    hanging.limits = TransferLimits()

    let outcome = downloader.start(hanging).outcome
    await clock.waitForSleepers(1)
    let other = try await downloader.download(DownloadRequest("y", host: "b.test"))
    #expect(other.body == [1] && outcome.values.isEmpty)
    clock.advance(by: TransferLimits().total)

    #expect(await outcome.only().failure?.code == .timeoutTotal)
    #expect(transport.paths == ["y"])
  }

  @Test func `Canceling a download cancels its modifier, and pausing it calls the modifier again later`() async throws {
    let transport = ScriptedTransport { _, _ in .response([1]) }
    let downloader = Downloader(.prompt, transport: transport)
    let (begun, canceled) = (Recorder<Int>(), Recorder<Int>())
    let request = try request(
      RequestModifier(id: "slow") { [never] _ in
        begun.record(1)
        guard begun.values.count < 3 else { return }
        do { try await never.sleep(for: .seconds(1)) } catch { canceled.record(1) }
      })

    let first = downloader.start(request)
    _ = await begun.values(count: 1)
    first.token.cancel()
    #expect(await first.outcome.only().failure?.code == .cancelled)
    _ = await canceled.values(count: 1)
    let second = downloader.start(request)
    _ = await begun.values(count: 2)
    second.token.pause()
    _ = await canceled.values(count: 2)
    second.token.resume()

    #expect(await second.outcome.only().body == [1])
    #expect(begun.values.count == 3 && transport.requests.count == 1)
  }

  @Test func `Requests share a download exactly if their modifiers have the same id`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .response([1]) }
    let downloader = Downloader(.prompt, transport: transport)

    let outcomes = try [1, 1, 2].map { downloader.start(try request(query($0))).outcome }
    await transport.resume(first: 2)

    for outcome in outcomes { #expect(await outcome.only().body == [1]) }
    #expect(transport.requests.count == 2)
  }

  @Test func `Cached thumbnails are served to requests whose modifier has the same id`() async throws {
    let fixture = try PipelineFixture { request in
      .image(request.fields["authorization"] == "one" ? 1 : 2)
    }
    let pipeline = fixture.pipeline()
    func image(_ user: String) async throws -> ThumbnailSet {
      var request = fixture.request("/a.png")
      request.options.modifier = RequestModifier(id: user) { $0.headerFields[.authorization] = user }
      return try await pipeline.thumbnails(for: request)
    }

    let (one, two) = try await (image("one"), image("two"))
    let again = try await image("one")

    #expect(one.origin == .network && two.origin == .network && again.origin == .memory)
    #expect(one.digest != two.digest && again.digest == one.digest)
    #expect(fixture.server.requests.count == 2)
  }
}
