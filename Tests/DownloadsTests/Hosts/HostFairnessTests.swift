import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// No host holds back another one.
@Suite(.timeLimit(.minutes(10))) struct HostFairnessTests {
  /// Holds the requests to hosts whose names begin with `slow`, and responds to the others.
  private let transport = ScriptedTransport { request, _ in
    request.source.host.hasPrefix("slow") ? [.hold] + .response([1]) : .response([1])
  }

  private func hosts(_ transport: ScriptedTransport) -> [String] { transport.requests.map(\.source.host) }

  @Test func `A host that hangs, with more downloads than there are connections, stops no other host`() async throws {
    let downloader = Downloader(.prompt, transport: transport)
    for index in 0..<100 { _ = downloader.start(try DownloadRequest("\(index)", host: "slow.test")) }
    _ = await transport.exchanges.values(count: 6)
    let others = try (0..<200).map { try downloader.start(DownloadRequest("\($0)", host: "\($0 % 3).test")).outcome }

    for other in others { #expect(await other.only().failure == nil) }
    #expect(hosts(transport).count { $0 == "slow.test" } == 6)

    downloader.cancelAll()
    await downloader.waitUntilFinished()
    await eventually { downloader.hostCount == 0 }
  }

  @Test func `A connection that slow hosts release goes to the download that has waited longest`() async throws {
    let configuration = Downloader.Configuration.prompt.with {
      $0.concurrency = 4
      $0.perHost = 2
    }
    let downloader = Downloader(configuration, transport: transport)

    for index in 0..<50 {
      _ = downloader.start(try DownloadRequest("\(index)", host: "slow1.test"))
      _ = downloader.start(try DownloadRequest("\(index)", host: "slow2.test"))
    }
    _ = await transport.exchanges.values(count: 4)
    let other = downloader.start(try DownloadRequest("x", host: "other.test"))
    var next = 0
    while !hosts(transport).contains("other.test") {
      await transport.exchanges.values(count: next + 1)[next].resume()
      next += 1
    }

    #expect(await other.outcome.only().failure == nil)
    // Two downloads of each slow host came before it, and as many may have come in between.
    #expect(next <= 9)

    downloader.cancelAll()
  }

  @Test func `A Retry-After field also holds back the running downloads of its host, and no other host`() async throws {
    let clock = ManualClock()
    let transport = ScriptedTransport { request, number in
      switch (request.source.host, number) {
      case ("busy.test", 1): [.hold] + .response([], status: 429, fields: [.retryAfter: "7"])
      case ("busy.test", 2): [.hold, .fail(.connectionLost)]
      default: .response([1])
      }
    }
    let downloader = Downloader(.prompt.with { $0.clock = clock }, transport: transport)
    let first = downloader.start(try DownloadRequest("1", host: "busy.test"))

    _ = await transport.exchanges.values(count: 1)
    let second = downloader.start(try DownloadRequest("2", host: "busy.test"))
    let exchanges = await transport.exchanges.values(count: 2)
    exchanges[0].resume()
    await clock.waitForSleepers(2)
    exchanges[1].resume()
    let other = downloader.start(try DownloadRequest("3", host: "other.test"))
    #expect(await other.outcome.only().failure == nil)
    #expect(hosts(transport) == ["busy.test", "busy.test", "other.test"])

    clock.advance(by: .seconds(7))
    #expect(await first.outcome.only().failure == nil)
    #expect(await second.outcome.only().failure == nil)

    await downloader.waitUntilFinished()
    await eventually { downloader.hostCount == 0 }
  }

  @Test func `A host that refuses repeatedly is left alone even without a Retry-After field`() async throws {
    let clock = ManualClock()
    let transport = ScriptedTransport { request, number in
      request.source.host == "busy.test" && number <= 2 ? [.hold] + .response([], status: 503) : .response([1])
    }
    let configuration = Downloader.Configuration.prompt.with {
      $0.clock = clock
      $0.retry = RetryPolicy(limit: 0, base: .seconds(1))
    }
    let downloader = Downloader(configuration, transport: transport)
    let refused = try (0..<2).map {
      downloader.start(try DownloadRequest("\($0)", host: "busy.test").acceptingAll)
    }

    for exchange in await transport.exchanges.values(count: 2) { exchange.resume() }
    for download in refused { #expect(await download.outcome.only().body == []) }

    await clock.waitForSleepers(1)
    #expect(clock.nextDeadline == .seconds(2))

    let waiting = downloader.start(try DownloadRequest("2", host: "busy.test"))
    let other = downloader.start(try DownloadRequest("3", host: "other.test"))
    #expect(await other.outcome.only().failure == nil)
    #expect(waiting.outcome.values.isEmpty)

    clock.advance(by: .seconds(2))
    #expect(await waiting.outcome.only().body == [1])
  }
}
