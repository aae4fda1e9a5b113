import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// The consequences that a response, or the lack of one, has for the downloads of a host.
@Suite(.timeLimit(.minutes(10))) struct HostContactTests {
  private let clock = ManualClock()

  private func configuration(retries: Int) -> Downloader.Configuration {
    .prompt.with {
      $0.clock = clock
      $0.retry = RetryPolicy(limit: retries, base: .seconds(1))
    }
  }

  @Test func `A resumed download whose host has died by then does not fail as canceled`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "dead" ? [.fail(.connectFailed)] : [.hold]
    }
    let downloader = Downloader(configuration(retries: 0).with { $0.maxHostFailures = 1 }, transport: transport)
    let paused = downloader.start(try DownloadRequest("paused"))
    _ = await transport.exchanges.values(count: 1)
    paused.token.pause()
    await eventually { transport.load.now == 0 }

    #expect(await downloader.start(try DownloadRequest("dead")).outcome.only().failure?.code == .connectFailed)
    let probe = downloader.start(try DownloadRequest("dead"))
    await clock.waitForSleepers(1)
    clock.advance(by: HostBreaker.firstPause)
    #expect(await probe.outcome.only().failure?.code == .connectFailed)
    paused.token.resume()

    #expect(await paused.outcome.only().failure?.code == .hostUnavailable)
  }

  @Test(arguments: [408, 425, 500, 502, 504])
  func `A temporary failure is retried when its Retry-After says, which delays no other download of the host`(
    status: Int
  ) async throws {
    let transport = ScriptedTransport { request, number in
      number == 1 ? .response([], status: status, fields: [.retryAfter: "7"]) : .response([1])
    }
    let downloader = Downloader(configuration(retries: 3), transport: transport)
    let failed = downloader.start(try DownloadRequest("failed"))

    await clock.waitForSleepers(1)
    #expect(clock.nextDeadline == .seconds(7))
    #expect(await downloader.start(try DownloadRequest("other")).outcome.only().body == [1])
    clock.advance(by: .seconds(7))

    #expect(await failed.outcome.only().body == [1])
    #expect(transport.paths == ["failed", "other", "failed"])
  }

  @Test func `A temporary failure whose Retry-After is beyond the maximum wait is not retried`() async throws {
    let transport = ScriptedTransport { _, _ in .response([], status: 500, fields: [.retryAfter: "121"]) }
    let downloader = Downloader(configuration(retries: 3), transport: transport)

    #expect(await downloader.start(try DownloadRequest("a").acceptingAll).outcome.only().body == [])
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [429, 503], ["0", "Sun, 06 Nov 1994 08:49:37 GMT"])
  func `A Retry-After of zero or in the past does not replace the usual pause`(
    status: Int, retryAfter: String
  ) async throws {
    let transport = ScriptedTransport { _, _ in .response([], status: status, fields: [.retryAfter: retryAfter]) }
    let downloader = Downloader(configuration(retries: 1).with { $0.retry.base = .seconds(10) }, transport: transport)
    let refused = downloader.start(try DownloadRequest("a"))

    await clock.waitForSleepers(1)
    #expect(transport.requests.count == 1)
    refused.token.cancel()
  }

  @Test func `A rate counts a request from when it is sent`() async throws {
    let transport = ScriptedTransport { _, number in
      number == 1 ? [.hold, .sent, .hold] + .response([1]) : .response([2])
    }
    let configuration = configuration(retries: 0).with { $0.rate = RequestRate("1/s") }
    let downloader = Downloader(configuration, transport: transport)
    let ends = try ["a", "b"].map { downloader.start(try DownloadRequest($0)).outcome }
    let first = await transport.exchanges.values(count: 1)[0]

    clock.advance(by: .seconds(5))
    first.resume()
    await clock.waitForSleepers(1)
    #expect(transport.requests.count == 1)
    clock.advance(by: .seconds(2))

    #expect(await ends[1].only().body == [2])
    first.resume()
    #expect(await ends[0].only().body == [1])
  }

  @Test func `The transport reports each request before its response, and none without a connection`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let silent = try SilentPort()
    let transport = CurlTransport(.direct)
    let all = ["sent", "head", "bytes", "end"]
    for (url, limit, expected) in [
      (server.url("/a"), 600, all), (server.url("/b"), 600, all), ("http://127.0.0.1:\(silent.port)/", 1, ["end"]),
    ] {
      let events = EventRecorder()
      var request = TransferRequest(source: try SourceURL(url))
      request.limits.connect = .seconds(limit)
      request.limits.firstByte = .seconds(600)
      let transfer = transport.start(request, receiver: events)
      #expect(await events.names.values(count: expected.count) == expected)
      transfer.cancel()
    }
  }

  @Test func `Local files have no rate`() async throws {
    let directory = try TemporaryDirectory()
    let sources = try ["a", "b"].map { try SourceURL("file://\(directory.write($0, as: $0))") }
    let slow = try #require(RequestRate("1/h"))
    var hosts = HostRules()
    hosts[try HostPattern("*")] = HostRule(rate: slow)
    let configuration = configuration(retries: 0).with { settings in
      settings.files = .allowed
      settings.rate = slow
      settings.hosts = hosts
    }
    let downloader = Downloader(configuration, transport: ScriptedTransport { _, _ in [] })

    let ends = sources.map { downloader.start(DownloadRequest(source: $0)).outcome }

    for (end, text) in zip(ends, ["a", "b"]) { #expect(await end.only().body == Array(text.utf8)) }
  }

  @Test func `A redirect that leads back to its source is reported, and trusted as little as its hops`() async throws {
    let transport = ScriptedTransport { _, number in
      switch number {
      case 1: .response([], status: 302, fields: [.location: "http://b.test/"])
      case 2: .response([], status: 302, fields: [.location: "http://a.test/a"])
      default: .response([1])
      }
    }
    var hosts = HostRules()
    hosts[try HostPattern("b.test")] = HostRule(headerFields: [.acceptLanguage: "de"])
    let downloader = Downloader(configuration(retries: 0).with { $0.hosts = hosts }, transport: transport)

    let download = try await downloader.start(try DownloadRequest("a")).outcome.only().get()

    #expect(download.redirects.map(\.url) == ["http://a.test/a", "http://b.test/"])
    #expect(download.finalURL == nil && !download.isCacheable)
  }
}

/// Records the names of a transfer's events.
private final class EventRecorder: TransferReceiver {
  let names = Recorder<String>()

  func requestSent() { names.record("sent") }
  func receive(head: TransferHead) { names.record("head") }
  func receive(bytes: UnsafeRawBufferPointer) { names.record("bytes") }
  func receiveEnd(_ failure: FetchFailure?) { names.record("end") }
}
