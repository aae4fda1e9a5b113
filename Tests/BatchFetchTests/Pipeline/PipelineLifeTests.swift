import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Pausing, watching, sharing and ending pipelines.
@Suite(.timeLimit(.minutes(10))) struct PipelineLifeTests {
  private static let body = SampleImage.png(width: 40, height: 30)

  /// Sends images, each as soon as the test lets it.
  private var held: ScriptedTransport {
    ScriptedTransport { _, _ in [.hold, .head(200, [:]), .bytes(Self.body), .end] }
  }

  private func load(_ path: String, _ pipeline: ThumbnailPipeline, _ outcome: Recorder<Origin>) -> ThumbnailToken {
    pipeline.load(ThumbnailRequest(url: "http://a.test/\(path)", size: 8)) { outcome.record(Origin($0)) }
  }

  /// An outcome in short.
  private enum Origin: Hashable, Sendable {
    case set(ThumbnailSet.Origin)
    case failure(FailureCode)

    init(_ result: Result<ThumbnailSet, FetchFailure>) {
      switch result {
      case .success(let set): self = .set(set.origin)
      case .failure(let failure): self = .failure(failure.code)
      }
    }
  }

  @Test func `A paused request gives up its connection, and continues where it was`() async throws {
    let transport = ScriptedTransport.halving(Self.body)
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    let outcome = Recorder<Origin>()
    let token = load("a.png", pipeline, outcome)
    await transport.exchanges.values(count: 1)[0].played()

    token.pause()
    await eventually { transport.load.now == 0 }
    token.resume()
    await transport.resume(first: 2)

    #expect(await outcome.values(count: 1) == [.set(.network)])
    #expect(transport.requests.map { $0.headerFields[.range] == nil } == [true, false])
  }

  @Test func `An image is paused only while all of its callers have paused`() async throws {
    let transport = held
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    let outcomes = Recorder<Origin>()
    let tokens = (0..<2).map { _ in load("a.png", pipeline, outcomes) }
    let exchange = await transport.exchanges.values(count: 1)[0]

    tokens[0].pause()
    exchange.resume()

    #expect(await outcomes.values(count: 2) == [.set(.network), .set(.network)])
    #expect(transport.requests.count == 1)
  }

  @Test func `A request that is paused before its download begins sends nothing until it is resumed`() async throws {
    let transport = held
    let pipeline = ThumbnailPipeline.prompt(over: transport) { $0.downloads.concurrency = 1 }
    let outcomes = Recorder<Origin>()
    let first = load("a.png", pipeline, outcomes)
    let exchange = await transport.exchanges.values(count: 1)[0]
    let second = load("b.png", pipeline, outcomes)
    second.pause()
    await eventually { pipeline.downloader.runningCount == 2 }
    exchange.resume()
    _ = await outcomes.values(count: 1)
    await eventually { pipeline.downloader.context.queue.ticketCount == 0 }
    #expect(transport.paths == ["a.png"])

    second.resume()
    await transport.exchanges.values(count: 2)[1].resume()
    #expect(await outcomes.values(count: 2).count == 2)
    withExtendedLifetime(first) {}
  }

  @Test func `The stream of events has each download once, with its progress, and ends with the pipeline`()
    async throws
  {
    var pipeline: ThumbnailPipeline? = ThumbnailPipeline.prompt(
      over: ScriptedTransport { _, _ in [.head(200, [:]), .bytes(Self.body), .end] })
    let events = try #require(pipeline).events
    for size in [8, 9] {
      let request = ThumbnailRequest(url: "http://a.test/\(size).png", size: size)
      _ = try await pipeline?.thumbnails(for: request)
    }
    pipeline = nil

    var names: [String] = []
    for await event in events {
      switch event {
      case .started(let source): names.append("start \(source.lastPathComponent)")
      case .progressed(_, let progress): names.append("\(progress.received == Self.body.count)")
      case .finished(let source, let result):
        names.append("end \(source.lastPathComponent) \(result.body == Self.body)")
      }
    }
    #expect(names == ["start 8.png", "true", "end 8.png true", "start 9.png", "true", "end 9.png true"])
  }

  @Test func `Two pipelines with one downloader keep its limit per host together`() async throws {
    let transport = held
    let first = ThumbnailPipeline.prompt(over: transport) { $0.downloads.perHost = 2 }
    let second = ThumbnailPipeline(.init(cacheDirectory: nil), over: first.downloader)
    let outcomes = Recorder<Origin>()
    let tokens = (0..<4).flatMap { number in
      [load("a\(number).png", first, outcomes), load("b\(number).png", second, outcomes)]
    }
    await eventually { first.downloader.runningCount == 8 }

    await transport.resume(first: 8)
    #expect(await outcomes.values(count: 8).allSatisfy { $0 == .set(.network) })
    #expect(transport.requests.count == 8 && transport.load.peak == 2)
    withExtendedLifetime(tokens) {}
  }

  @Test func `A pipeline that is released while it is suspended does not hold up the other one`() async throws {
    let transport = ScriptedTransport { _, _ in [.head(200, [:]), .bytes(Self.body), .end] }
    let first = ThumbnailPipeline.prompt(over: transport)
    var second: ThumbnailPipeline? = ThumbnailPipeline(.init(cacheDirectory: nil), over: first.downloader)
    second?.suspend()
    #expect(second?.isSuspended == true && !first.isSuspended && !first.downloader.isSuspended)
    let outcomes = Recorder<Origin>()
    let token = load("a.png", first, outcomes)
    second = nil

    #expect(await outcomes.values(count: 1) == [.set(.network)])
    withExtendedLifetime(token) {}
  }

  @Test func `A shutdown waits for requests in flight, cancels them after the limit, and refuses later ones`()
    async throws
  {
    let (clock, transport) = (ManualClock(), held)
    let pipeline = ThumbnailPipeline.prompt(over: transport) { $0.downloads.clock = clock }
    let outcomes = Recorder<Origin>()
    let tokens = [load("a.png", pipeline, outcomes), load("b.png", pipeline, outcomes)]
    let exchanges = await transport.exchanges.values(count: 2)
    exchanges[0].resume()
    _ = await outcomes.values(count: 1)
    tokens[1].pause()

    async let end: Void = pipeline.shutdown(within: .seconds(5))
    await clock.waitForSleepers(1)
    #expect(!pipeline.group.isEmpty)
    clock.advance(by: .seconds(5))
    await end

    #expect(outcomes.values == [.set(.network), .failure(.cancelled)] && pipeline.runningCount == 0)
    #expect(pipeline.group.isEmpty)
    let late = await #expect(throws: FetchFailure.self) {
      try await pipeline.thumbnails(for: ThumbnailRequest(url: "http://a.test/a.png", size: 8))
    }
    #expect(late?.code == .cancelled)
  }

  @Test func `A downloader that is shut down refuses later downloads`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    await downloader.shutdown()

    let late = await #expect(throws: FetchFailure.self) { try await downloader.download(DownloadRequest("a")) }
    #expect(late?.code == .cancelled)
  }

  @Test func `A batch that is iterated returns its counts`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "2.png"
        ? [.head(404, [:]), .end] : [.head(200, [:]), .bytes(Self.body), .end]
    }
    let requests = (0..<4).map { ThumbnailRequest(url: "http://a.test/\($0).png", size: 8) }
    let counts = Recorder<Int>()

    let summary = await Batch(requests, over: ThumbnailPipeline.prompt(over: transport)).forEach {
      counts.record($0.finished)
    }

    let bytes = 3 * Self.body.count
    #expect(summary == BatchSummary(finished: 4, failed: 1, cancelled: 0, isCancelled: false, receivedBytes: bytes))
    #expect(counts.values == [1, 2, 3, 4])
  }

  @Test func `A group of the program waits for a batch and a pipeline`() async throws {
    let transport = held
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    let requests = [ThumbnailRequest(url: "http://a.test/a.png", size: 8)]
    let (done, ends) = (Recorder<String>(), DispatchGroup())
    let run = Batch(requests, over: pipeline).start { _ in done.record("item") }
    run.group.join(ends)
    pipeline.group.join(ends)
    ends.notify(queue: .global()) { done.record("all") }
    await transport.resume(first: 1)

    #expect(await done.values(count: 2) == ["item", "all"])
  }
}
