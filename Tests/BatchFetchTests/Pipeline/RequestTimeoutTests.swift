import DownloadSupport
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// The maximum time of a whole request.
@Suite(.timeLimit(.minutes(10))) struct RequestTimeoutTests {
  private static let image = SampleImage.png(width: 40, height: 30, seed: 1)
  private let clock = ManualClock()
  private let transport = ScriptedTransport { request, _ in
    request.source.lastPathComponent == "busy" ? .response([], status: 503) : [.hold] + .response(Self.image)
  }

  private func pipeline() -> ThumbnailPipeline {
    .prompt(over: transport) { [clock] in
      $0.downloads.clock = clock
      $0.downloads.retry = RetryPolicy(limit: 3, base: .seconds(1_000_000), cap: .seconds(1_000_000))
    }
  }

  private func load(
    _ path: String, within timeout: Duration?, _ pipeline: ThumbnailPipeline,
    change: (inout ThumbnailRequest) -> Void = { _ in }
  ) -> Recorder<Result<ThumbnailSet, FetchFailure>> {
    let outcome = Recorder<Result<ThumbnailSet, FetchFailure>>()
    var request = ThumbnailRequest(url: "http://a.test/\(path)", size: 16)
    request.timeout = timeout
    change(&request)
    pipeline.load(request) { outcome.record($0) }
    return outcome
  }

  @Test func `A request ends at its deadline, and its work goes on only for others`() async throws {
    let pipeline = pipeline()
    let limited = load("x", within: .seconds(5), pipeline)
    let alone = load("y", within: .seconds(5), pipeline)
    let patient = load("x", within: nil, pipeline)
    _ = await transport.exchanges.values(count: 2)
    await clock.waitForSleepers(2)

    clock.advance(by: .seconds(5))
    let failures = await [limited.values(count: 1)[0].failure, alone.values(count: 1)[0].failure]
    await eventually { pipeline.runningCount == 1 }
    for exchange in transport.exchanges.values { exchange.resume() }

    #expect(failures.allSatisfy { $0?.code == .timeoutTotal && $0?.code.isRetryable == true })
    #expect(failures[0]?.message == "The request took longer than its limit of 5.0 seconds.")
    #expect(try await patient.values(count: 1)[0].get().origin == .network)
    #expect(limited.values.count == 1 && alone.values.count == 1)
  }

  @Test func `The time of milestones, of pauses between attempts and of mirrors counts`() async throws {
    let (pipeline, never) = (pipeline(), Milestone())
    let waiting = load("x", within: .seconds(5), pipeline) { $0.after = [never] }
    let retrying = load("busy", within: .seconds(5), pipeline) { $0.mirrors = ["http://b.test/busy"] }
    _ = await transport.exchanges.values(count: 1)
    // Two deadlines and the pause between attempts.
    await clock.waitForSleepers(3)

    clock.advance(by: .seconds(5))

    #expect(await waiting.values(count: 1)[0].failure?.code == .timeoutTotal)
    #expect(await retrying.values(count: 1)[0].failure?.code == .timeoutTotal)
    await pipeline.waitUntilFinished()
    #expect(transport.requests.count == 1)
    withExtendedLifetime(never) {}
  }

  @Test func `A request that has ended has no deadline anymore`() async throws {
    let pipeline = pipeline()
    let outcome = load("x", within: .seconds(5), pipeline)
    await transport.resume(first: 1)

    #expect(try await outcome.values(count: 1)[0].get().origin == .network)
    await eventually { clock.nextDeadline == nil }
    #expect(outcome.values.count == 1)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max) * 18])
  func `Extreme deadlines end a request at once, or never, and leave nothing running`(timeout: Duration) async throws {
    let downloader = Downloader(.prompt, transport: transport)
    var request = try DownloadRequest("x")
    request.timeout = timeout
    let (token, outcome) = downloader.start(request)
    let thumbnails = load("y", within: timeout, .prompt(over: transport))
    if timeout > .zero {
      _ = await transport.exchanges.values(count: 2)
      token.cancel()
      for exchange in transport.exchanges.values { exchange.resume() }
      #expect(try await thumbnails.values(count: 1)[0].get().origin == .network)
    } else {
      #expect(await thumbnails.values(count: 1)[0].failure?.code == .timeoutTotal)
    }

    #expect(await outcome.only().failure?.code == (timeout > .zero ? .cancelled : .timeoutTotal))
    await eventually { downloader.runningCount == 0 }
  }

  @Test func `A download ends at its deadline, also one that waits for its dependencies`() async throws {
    let downloader = Downloader(.prompt.with { $0.clock = clock }, transport: transport)
    var limited = try DownloadRequest("x")
    limited.timeout = .seconds(5)
    let first = downloader.start(limited)
    let patient = downloader.start(try DownloadRequest("x"))
    let second = downloader.start(limited, after: [patient.token])
    _ = await transport.exchanges.values(count: 1)
    await clock.waitForSleepers(2)

    clock.advance(by: .seconds(5))
    let failures = await [first.outcome.only().failure, second.outcome.only().failure]
    await transport.resume(first: 1)

    #expect(failures.allSatisfy { $0?.code == .timeoutTotal })
    #expect(await patient.outcome.only().body == Self.image)
    await downloader.waitUntilFinished()
    #expect(transport.requests.count == 1)
  }
}
