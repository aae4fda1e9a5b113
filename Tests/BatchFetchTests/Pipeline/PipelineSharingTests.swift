import DownloadSupport
import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Loads of several callers for one source.
@Suite(.timeLimit(.minutes(10))) struct PipelineSharingTests {
  private typealias Outcomes = Recorder<Result<ThumbnailSet, FetchFailure>>

  @Test func `Canceling one of two loads does not affect the other one`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .image().after(gate) }
    let pipeline = fixture.pipeline()
    let (first, second) = (Outcomes(), Outcomes())
    let token = pipeline.load(fixture.request("/a")) { first.record($0) }

    pipeline.load(fixture.request("/a")) { second.record($0) }
    await fixture.server.waitForRequests(1)
    token.cancel()
    #expect(await first.values(count: 1).first?.failure == .cancelled)

    gate.open()
    #expect(await second.values(count: 1).first?.failure == nil)
    #expect(fixture.server.requests.count == 1)
    #expect(first.values.count == 1)
  }

  @Test(arguments: [true, false])
  func `The attempts of a request that several share are those of one of them`(isThere: Bool) async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in (isThere ? ServerReply.image() : .http(404)).after(gate) }
    let pipeline = fixture.pipeline()
    let outcomes = Outcomes()
    for _ in 0..<50 { pipeline.load(fixture.request("/a")) { outcomes.record($0) } }
    gate.open()

    let ends = await outcomes.values(count: 50)
    let shared = ends.map { (try? $0.get().isShared) ?? $0.failure?.isShared }
    let attempts = ends.map { (try? $0.get().attempts) ?? $0.failure?.attempts }
    #expect(shared.filter { $0 == false }.count == 1 && attempts == Array(repeating: 1, count: 50))
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `Canceling all loads of a source cancels its transfer`() async throws {
    let fixture = try PipelineFixture { _ in ServerReply([.send(ServerReply.head(200, ["Content-Length": "9"]))]) }
    let pipeline = fixture.pipeline()
    let outcomes = Outcomes()
    let tokens = (0..<2).map { _ in pipeline.load(fixture.request("/a")) { outcomes.record($0) } }

    await fixture.server.waitForRequests(1)
    for token in tokens { token.cancel() }
    #expect(await outcomes.values(count: 2).map(\.failure) == [.cancelled, .cancelled])

    await fixture.server.waitForClosedConnections(1)
    #expect(pipeline.runningCount == 0)
  }

  @Test func `A canceled task throws at once and cancels no other load`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .image().after(gate) }
    let pipeline = fixture.pipeline()
    let request = fixture.request("/a")
    let task = Task { try await pipeline.thumbnails(for: request) }
    async let other = pipeline.thumbnails(for: request)

    await fixture.server.waitForRequests(1)
    task.cancel()
    await #expect(throws: FetchFailure.cancelled) { try await task.value }

    gate.open()
    #expect(try await other.origin == .network)
  }

  @Test func `A load started in a completion is served`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    let outcomes = Outcomes()
    let request = fixture.request("/a")
    // A serial queue: no other completion is called before this one has canceled it.
    let queue = DispatchQueue(label: "completions")
    let token = pipeline.load(request, on: queue) { outcome in
      outcomes.record(outcome)
      pipeline.load(request, on: queue) { outcomes.record($0) }.cancel()
      pipeline.load(request, on: queue) { outcomes.record($0) }
    }
    let results = await outcomes.values(count: 3)

    token.cancel()

    #expect(results.count == 3)
    #expect(results.compactMap(\.failure) == [.cancelled])
    #expect(fixture.server.requests.count == 1)
  }

  @Test(arguments: ["memory", "the network"])
  func `A load canceled before its completion was called gets no success`(origin: String) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()

    if origin == "memory" { _ = try await pipeline.thumbnails(for: fixture.request("/a")) }
    let queue = DispatchQueue(label: "callbacks")
    queue.suspend()
    let outcomes = Outcomes()
    let token = pipeline.load(fixture.request("/a"), on: queue) { outcomes.record($0) }
    // The success waits in the queue now, and the completion has not been called.
    await eventually { pipeline.cache.memoryUsage.sources == 1 && pipeline.runningCount == 0 }
    token.cancel()
    queue.resume()

    #expect(await outcomes.values(count: 1).map(\.failure) == [.cancelled])
  }

  @Test func `A token keeps nothing that the completion captured`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    var captured: Counter? = Counter()
    weak let released = captured
    let token = pipeline.load(fixture.request("/a")) { [captured] _ in captured?.next() }

    captured = nil
    await eventually { released == nil }
    token.cancel()
  }

  @Test func `A request whose priority is raised right away overtakes those before it`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { .image().after($0.target == "/0" ? gate : Gate.opened) }
    let pipeline = fixture.pipeline(change: { $0.downloads.perHost = 1 })
    let outcomes = Outcomes()

    pipeline.load(fixture.request("/0")) { outcomes.record($0) }
    await fixture.server.waitForRequests(1)
    // Some of these are still being looked up when the priority changes. It must reach the download nevertheless.
    let tokens = (1...20).map { index in pipeline.load(fixture.request("/\(index)")) { outcomes.record($0) } }
    tokens[19].setPriority(.high)
    await eventually { pipeline.context.downloader.runningCount == 21 }
    gate.open()
    _ = await outcomes.values(count: 21)

    #expect(fixture.server.requests.map(\.target).prefix(2) == ["/0", "/20"])
  }

  @Test func `Each caller gets exactly one end, however callers join and leave`() async throws {
    let fixture = try PipelineFixture { request in
      request.target.hasSuffix("3") ? .http(404) : .image(fields: ["Cache-Control": "no-store"])
    }
    let pipeline = fixture.pipeline(change: { $0.cache.directory = nil })
    let (ends, counts) = (Recorder<Int>(), (0..<2000).map { _ in Counter() })

    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(worker))
          for index in stride(from: worker, to: counts.count, by: 4) {
            let path = "/\(Int.random(in: 0..<8, using: &random))"
            let token = pipeline.load(fixture.request(path, size: Int.random(in: 8...10, using: &random))) { _ in
              counts[index].next()
              ends.record(index)
            }
            if Int.random(in: 0..<3, using: &random) == 0 { token.cancel() }
          }
        }
      }
    }
    _ = await ends.values(count: counts.count)

    #expect(counts.allSatisfy { $0.value == 1 })
    #expect(pipeline.runningCount == 0)
  }
}
