import DownloadSupport
import Foundation
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

/// The rules for when, where and how often a batch calls its closures. See also `GroupCompletionTests`.
@Suite(.timeLimit(.minutes(10))) struct BatchCompletionTests {
  private let fixture: PipelineFixture

  init() throws {
    fixture = try PipelineFixture { request in
      request.target.contains("bad") ? .http(404) : .image()
    }
  }

  private func requests(_ count: Int, _ prefix: String = "") -> [ThumbnailRequest] {
    (0..<count).map { fixture.request("/\(prefix)\($0)") }
  }

  /// Starts a batch that nobody keeps, and returns its summary.
  private func summary<Elements>(of batch: Batch<Elements>) async -> BatchSummary {
    await withCheckedContinuation { continuation in
      batch.start { _ in
      } completion: {
        continuation.resume(returning: $0)
      }
    }
  }

  @Test func `A batch that nobody keeps still reports everything`() async throws {
    let summary = await summary(of: Batch(requests(30), over: fixture.pipeline()))
    let bytes = 30 * SampleImage.png(width: 40, height: 30).count
    #expect(
      summary == BatchSummary(finished: 30, failed: 0, cancelled: 0, isCancelled: false, receivedBytes: bytes))
  }

  @Test func `A batch calls its closures on the given queue, one at a time`() async throws {
    let queue = DispatchQueue(label: "mine", attributes: .concurrent)
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let load = LoadMeter()
    let elsewhere = Counter()

    await withCheckedContinuation { continuation in
      Batch(requests(50), over: fixture.pipeline()).start(on: queue) { _ in
        load.enter()
        if DispatchQueue.getSpecific(key: key) != true { elsewhere.next() }
        load.leave()
      } completion: { _ in
        if DispatchQueue.getSpecific(key: key) != true { elsewhere.next() }
        continuation.resume()
      }
    }

    #expect(elsewhere.value == 0 && load.peak == 1)
  }

  @Test func `Items that were finished before the batch began count`() async throws {
    let pipeline = fixture.pipeline()
    for request in requests(5) { _ = try await pipeline.thumbnails(for: request) }

    let summary = await summary(of: Batch(requests(10), over: pipeline))

    #expect(summary.finished == 10)
    #expect(fixture.server.requests.count == 10)
  }

  @Test func `Two batches of the same requests both complete, with one download each`() async throws {
    let pipeline = fixture.pipeline()

    async let first = summary(of: Batch(requests(40), over: pipeline))
    async let second = summary(of: Batch(requests(40), over: pipeline))
    let finished = await [first.finished, second.finished]

    #expect(finished == [40, 40])
    #expect(fixture.server.requests.count == 40)
  }

  @Test func `A pipeline that cancels everything ends each item of a batch once and completes the batch`()
    async throws
  {
    let (begun, gate) = (Gate(), Gate())
    let fixture = try PipelineFixture { .image().after($0.target == "/0" ? begun : gate) }
    // Connections for all of them: it is not known which are first in the queue of their host.
    let pipeline = fixture.pipeline(change: { ($0.downloads.concurrency, $0.downloads.perHost) = (32, 32) })
    let outcomes = Recorder<FailureCode?>()
    let summaries = Recorder<BatchSummary>()
    // The first image is sent once the last path was pulled and the batch looks for another element.
    let paths = sequence(first: 0) { index in
      if index == 20 { begun.open() }
      return index < 20 ? index + 1 : nil
    }

    Batch(paths, over: pipeline, window: 22) { fixture.request("/\($0)") }.start { item in
      outcomes.record(item.outcome.failure?.code)
      if item.finished == 1 { pipeline.cancelAll() }
    } completion: {
      summaries.record($0)
    }
    let summary = await summaries.values(count: 1)[0]
    gate.open()

    let bytes = SampleImage.png(width: 40, height: 30).count
    #expect(
      summary == BatchSummary(finished: 21, failed: 0, cancelled: 20, isCancelled: false, receivedBytes: bytes))
    #expect(outcomes.values == [nil] + Array(repeating: .cancelled, count: 20))
    #expect(pipeline.runningCount == 0)
    // Later requests are served.
    _ = try await pipeline.thumbnails(for: fixture.request("/1"))
  }

  @Test func `A batch of many more items than its window reports all of them`() async throws {
    let pipeline = fixture.pipeline(change: { $0.downloads.concurrency = 2 })

    let summary = await summary(of: Batch(requests(300), over: pipeline, window: 3))

    #expect(summary.finished == 300)
  }

  @Test func `A batch whose items all fail completes, as does a second one over the same pipeline`() async throws {
    let pipeline = fixture.pipeline()
    for _ in 0..<2 {
      let summary = await summary(of: Batch(requests(20, "bad"), over: pipeline))
      #expect(summary == BatchSummary(finished: 20, failed: 20, cancelled: 0, isCancelled: false))
    }
    #expect(fixture.server.requests.count == 20)
  }

  @Test func `A batch canceled twice, and again after its end, completes once`() async throws {
    let completions = Counter()
    let done = Recorder<Void>()
    let run = Batch(requests(20), over: fixture.pipeline()).start { _ in
    } completion: { _ in
      completions.next()
      done.record(())
    }

    run.cancel()
    run.cancel()
    _ = await done.values(count: 1)
    run.cancel()
    _ = await summary(of: Batch(requests(1), over: fixture.pipeline()))

    #expect(completions.value == 1)
  }

  @Test func `The handler of a batch may start another batch`() async throws {
    let pipeline = fixture.pipeline()
    let inner = Recorder<BatchSummary>()
    let again = requests(5, "inner")

    let outer = await withCheckedContinuation { continuation in
      Batch(requests(5), over: pipeline).start { _ in
        Batch(again, over: pipeline).start { _ in
        } completion: {
          inner.record($0)
        }
      } completion: {
        continuation.resume(returning: $0)
      }
    }

    #expect(outer.finished == 5)
    #expect(await inner.values(count: 5).map(\.finished) == [5, 5, 5, 5, 5])
  }

  @Test func `A completed batch keeps nothing that its closures captured`() async throws {
    final class Owner: Sendable {}
    var owner: Owner? = Owner()
    weak let released = owner

    await withCheckedContinuation { continuation in
      Batch(requests(10), over: fixture.pipeline()).start { [owner] _ in
        withExtendedLifetime(owner) {}
      } completion: { [owner] _ in
        withExtendedLifetime(owner) {}
        continuation.resume()
      }
    }
    owner = nil

    await eventually { released == nil }
  }

  @Test func `A thousand short batches that run at the same time all complete`() async throws {
    let pipeline = fixture.pipeline()
    let wanted = requests(10)
    let summaries = Recorder<BatchSummary>()

    DispatchQueue.concurrentPerform(iterations: 1000) { index in
      let run = Batch(wanted.prefix(index % 4), over: pipeline).start { _ in
      } completion: {
        summaries.record($0)
      }
      if index % 5 == 0 { run.cancel() }
    }
    let all = await summaries.values(count: 1000)

    #expect(all.count == 1000)
    #expect(all.allSatisfy { $0.isCancelled || $0.failed == 0 })
    await eventually { pipeline.runningCount == 0 }
  }
}
