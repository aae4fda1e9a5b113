import DownloadSupport
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// A load ends with its thumbnail or with a failure, however extreme the values of the configuration are.
@Suite(.timeLimit(.minutes(20))) struct ExtremeValueTests {
  static let numbers = [Int.min, -1, 0, 1, .max]
  static let durations: [Duration] = [
    .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .seconds(1_000_000_000), .seconds(Int64.max),
    .seconds(Int64.max) * 18,
  ]

  typealias Change = @Sendable (inout ThumbnailPipeline.Configuration, Int) -> Void
  typealias DurationChange = @Sendable (inout ThumbnailPipeline.Configuration, Duration) -> Void

  struct Limit<Value>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: @Sendable (inout ThumbnailPipeline.Configuration, Value) -> Void
    /// Returns true if a load must succeed with the value.
    let isSufficient: @Sendable (Value) -> Bool

    init(
      _ name: String, isSufficient: @escaping @Sendable (Value) -> Bool = { _ in true },
      _ change: @escaping @Sendable (inout ThumbnailPipeline.Configuration, Value) -> Void
    ) {
      testDescription = name
      self.change = change
      self.isSufficient = isSufficient
    }
  }

  static let counts: [Limit<Int>] = [
    Limit("concurrency") { $0.downloads.concurrency = $1 }, Limit("perHost") { $0.downloads.perHost = $1 },
    Limit("renderThreads") { $0.renderThreads = $1 }, Limit("maxBytesInHand") { $0.maxBytesInHand = $1 },
    Limit("maxPixels", isSufficient: { $0 > 1 }) { $0.maxPixels = $1 },
    Limit("maxBytes", isSufficient: { $0 > 1 }) { $0.downloads.limits.maxBytes = $1 },
    Limit("maxRedirects", isSufficient: { $0 > 0 }) { $0.downloads.limits.maxRedirects = $1 },
    Limit("lowestSpeed") { $0.downloads.limits.lowestSpeed = $1 },
    Limit("retry.limit") { $0.downloads.retry = RetryPolicy(limit: $1, base: .zero) },
    Limit("memoryByteLimit") { $0.cache.memoryByteLimit = $1 },
    Limit("diskByteLimit") { $0.cache.diskByteLimit = $1 },
  ]

  static let times: [Limit<Duration>] = [
    Limit("connect", isSufficient: { $0 >= .seconds(1) }) { $0.downloads.limits.connect = $1 },
    Limit("firstByte", isSufficient: { $0 >= .seconds(1) }) { $0.downloads.limits.firstByte = $1 },
    Limit("total", isSufficient: { $0 >= .seconds(1) }) { $0.downloads.limits.total = $1 },
    Limit("stallInterval") { $0.downloads.limits.stallInterval = $1 },
    Limit("progressInterval") { $0.downloads.progressInterval = $1 },
    Limit("retry.base") { $0.downloads.retry = RetryPolicy(limit: 1, base: $1, cap: .zero) },
  ]

  private func load<Value>(_ limit: Limit<Value>, _ value: Value) async throws -> Result<ThumbnailSet, FetchFailure> {
    let fixture = try PipelineFixture { request in
      request.target == "/a" ? .http(302, ["Location": "/b"]) : .image()
    }
    let pipeline = fixture.pipeline(change: { limit.change(&$0, value) })
    let result = await Result(of: { () async throws(FetchFailure) in
      try await pipeline.thumbnails(for: fixture.request("/a"))
    })
    await pipeline.flush()
    #expect(pipeline.runningCount == 0)
    return result
  }

  @Test(arguments: counts, numbers) func `A load ends whatever the number in the configuration`(
    limit: Limit<Int>, value: Int
  ) async throws {
    let result = try await load(limit, value)
    #expect(!limit.isSufficient(value) || result.failure == nil)
    // If one pixel, byte or redirect is too little, so is any smaller number.
    if !limit.isSufficient(1), value <= 1 { #expect(result.failure != nil) }
  }

  @Test(arguments: times, durations) func `A load ends whatever the duration in the configuration`(
    limit: Limit<Duration>, value: Duration
  ) async throws {
    let result = try await load(limit, value)
    #expect(!limit.isSufficient(value) || result.failure == nil)
  }

  @Test(arguments: numbers) func `A batch completes with any number of kept connections`(value: Int) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    var transport = CurlTransport.Configuration.direct
    transport.maxConnections = value
    let requests = (0..<30).map { fixture.request("/\($0)") }
    var finished = 0

    for await item in Batch(requests, over: fixture.pipeline(transport: transport)) where item.outcome.failure == nil {
      finished += 1
    }

    #expect(finished == 30)
  }

  @Test(arguments: numbers) func `A batch completes with any window`(value: Int) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let requests = (0..<30).map { fixture.request("/\($0)") }
    var finished = 0

    for await _ in Batch(requests, over: fixture.pipeline(), window: value) { finished += 1 }

    #expect(finished == 30)
  }

  @Test(arguments: durations) func `A download ends with any pause between its attempts`(value: Duration) async throws {
    let clock = ManualClock()
    let transport = ScriptedTransport { _, number in number < 4 ? [.fail(.connectionLost)] : .response([1]) }
    var configuration = Downloader.Configuration.prompt
    configuration.clock = clock
    configuration.retry = RetryPolicy(limit: 3, base: value, cap: value)
    let downloader = Downloader(configuration, transport: transport)
    let started = downloader.start(try DownloadRequest("a"))

    while started.outcome.values.isEmpty {
      clock.advance(by: .seconds(20 * 86_400))
      await Task.yield()
    }

    #expect(await started.outcome.only().body == [1])
  }

  @Test(arguments: durations, numbers)
  func `A retry policy gives no endless pause, whatever the durations and the number of attempts`(
    value: Duration, attempts: Int
  ) {
    for policy in [RetryPolicy(limit: .max, base: value, cap: value), RetryPolicy(limit: .max, base: value)] {
      for retryAfter in [nil, value] {
        let pause = policy.pause(after: .connectionLost, attempts: attempts, retryAfter: retryAfter, jitter: 0.9)
        #expect(pause.map { $0 <= .seconds(20 * 86_400) } ?? (retryAfter != nil))
      }
    }
    var pace = HostBackoff()
    let policy = RetryPolicy(limit: 3, base: value, cap: value, maxWait: value)
    for _ in 0..<3 { pace.refuse(.init(isLimit: true, retryAfter: value), policy: policy, now: .seconds(1)) }
    #expect(pace.closedUntil.map { $0 < .seconds(61 * 86_400) } ?? true)
  }

  @Test(arguments: durations) func `A transport ends each exchange and each preparation, whatever the deadlines`(
    value: Duration
  )
    async throws
  {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    var request = TransferRequest(source: try SourceURL(server.url("/")))
    request.limits.connect = value
    request.limits.total = value
    request.limits.firstByte = value
    request.limits.stallInterval = value
    let receiver = EndRecorder()
    let transport = CurlTransport(.direct)

    _ = transport.start(request, receiver: receiver)
    #expect(await receiver.ends.values(count: 1).count == 1)

    let prepared = Recorder<FailureCode?>()
    let named = try SourceURL("http://nothing.test/")
    CurlTransport(.direct, resolve: { _ in .notFound }).prepare(for: named, limits: request.limits) {
      prepared.record($0?.code)
    }
    #expect(await prepared.values(count: 1).count == 1)
  }

  private final class EndRecorder: TransferReceiver {
    let ends = Recorder<FetchFailure?>()

    func receive(head: TransferHead) {}
    func receive(bytes: UnsafeRawBufferPointer) {}
    func receiveEnd(_ failure: FetchFailure?) { ends.record(failure) }
  }
}
