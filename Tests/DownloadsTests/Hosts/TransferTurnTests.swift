import DownloadSupport
import Synchronization
import TestSupport
import Testing

@testable import Downloads

/// The turns of downloads that follow from one another or from one event.
@Suite(.timeLimit(.minutes(10))) struct TransferTurnTests {
  private static func configuration(perHost: Int) -> Downloader.Configuration {
    .prompt.with {
      $0.perHost = perHost
      $0.retry.limit = 0
    }
  }

  /// Starts 10,000 downloads of `host`, and returns what records their ends.
  private static func start(_ downloader: Downloader, _ host: String) throws -> Recorder<FailureCode?> {
    let ends = Recorder<FailureCode?>()
    for index in 0..<10_000 {
      downloader.download(try DownloadRequest("\(index)", host: host)) { ends.record($0.failure?.code) }
    }
    return ends
  }

  @Test(arguments: [6, 64])
  func `Ten thousand downloads of a host end when it is found out late that it does not exist`(
    perHost: Int
  ) async throws {
    let gate = Gate()
    let transport = CurlTransport(.direct) { _ in
      gate.wait()
      return .notFound
    }
    let downloader = Downloader(Self.configuration(perHost: perHost), transport: transport)

    let ends = try Self.start(downloader, "gone.test")
    gate.open()

    #expect(await ends.values(count: 10_000).allSatisfy { $0 == .dnsNotFound })
  }

  @Test(arguments: [nil, FailureCode.dnsNotFound])
  func `No preparation begins within another one, however many are known to succeed or to fail`(
    code: FailureCode?
  ) async throws {
    let transport = LateTransport(code)
    let configuration = Self.configuration(perHost: 500).with { $0.concurrency = 1000 }
    let ends = try Self.start(Downloader(configuration, transport: transport), "late.test")
    transport.finishPreparation()

    #expect(await ends.values(count: 10_000).allSatisfy { $0 == code })
    #expect(transport.depth.peak == 1)
  }

  @Test func `A download that is canceled between its turn and its transfer leaves its place to others`() async throws {
    let tokens = Recorder<DownloadToken>()
    let transport = ScriptedTransport { request, _ in
      guard request.source.lastPathComponent == "1" else { return [.hold] + .response([1]) }
      tokens.values[1].cancel()
      return .response([1])
    }
    let downloader = Downloader(.prompt.with { $0.concurrency = 2 }, transport: transport)
    downloader.isSuspended = true
    for path in ["1", "2"] { tokens.record(downloader.start(try DownloadRequest(path)).token) }
    downloader.isSuspended = false

    let others = try ["3", "4"].map { downloader.start(try DownloadRequest($0)).outcome }
    for exchange in await transport.exchanges.values(count: 3) { exchange.resume() }

    #expect(transport.paths == ["1", "3", "4"])
    for outcome in others { #expect(await outcome.only().body == [1]) }
    await eventually { downloader.hostCount == 0 }
  }
}

/// A transport whose preparations wait until a test ends them. Later ones end at once, with the same result.
private final class LateTransport: Transport {
  private typealias Completion = @Sendable (FetchFailure?) -> Void

  /// The number of preparations that begin within one another.
  let depth = LoadMeter()
  private let failure: FetchFailure?
  private let inner = ScriptedTransport { _, _ in .response([1]) }
  /// The preparations that wait; nil once the result is known.
  private let waiting = Mutex<[Completion]?>([])

  init(_ code: FailureCode?) { failure = code.map { FetchFailure($0, "The preparation fails here.") } }

  func finishPreparation() {
    for completion in waiting.withLock({ $0.take() }) ?? [] { completion(failure) }
  }

  func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    depth.enter()
    defer { depth.leave() }
    let isKnown = waiting.withLock { waiting in
      waiting?.append(completion)
      return waiting == nil
    }
    if isKnown { completion(failure) }
  }

  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    inner.start(request, receiver: receiver)
  }
}
