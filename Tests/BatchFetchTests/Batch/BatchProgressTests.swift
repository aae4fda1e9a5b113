import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// The progress of a batch in elements and bytes.
@Suite(.timeLimit(.minutes(10))) struct BatchProgressTests {
  private static let image = SampleImage.png(width: 8, height: 8)
  private static let count = image.count

  /// Sends an image in two pieces, and holds the second until the test resumes. `unknown` has no length, `gone` does
  /// not exist, and `broken` fails after its first piece.
  private let transport = ScriptedTransport { request, _ in
    let name = request.source.lastPathComponent
    let head = ScriptedTransport.Step.head(
      200, name == "unknown" ? [:] : [.contentLength: "\(image.count)", .cacheControl: "max-age=3600"])
    let first = [head, .bytes(Array(image.prefix(40))), .hold]
    switch name {
    case "gone": return .response([], status: 404)
    case "broken": return first + [.fail(.tooManyRedirects)]
    default: return first + [.bytes(Array(image.dropFirst(40))), .end]
    }
  }

  private func requests(_ names: [String], size: Int = 4) -> [ThumbnailRequest] {
    names.map { ThumbnailRequest(url: "http://a.test/\($0)", size: size) }
  }

  /// A running batch and its reports.
  private struct Run {
    let progress = Recorder<BatchProgress>()
    let summaries = Recorder<BatchSummary>()
    /// The number of reports before each completion.
    let reportsBeforeEnd = Recorder<Int>()

    init(_ batch: Batch<[ThumbnailRequest]>) {
      batch.start { _ in
      } progress: { [progress] in
        progress.record($0)
      } completion: { [progress, summaries, reportsBeforeEnd] in
        reportsBeforeEnd.record(progress.values.count)
        summaries.record($0)
      }
    }

    /// Returns the first progress that `isWanted` accepts.
    func report(where isWanted: @escaping @Sendable (BatchProgress) -> Bool) async -> BatchProgress? {
      await eventually { progress.values.contains(where: isWanted) }
      return progress.values.first(where: isWanted)
    }
  }

  @Test func `The bytes of all elements add up while they are downloaded, and at the end`() async {
    let run = Run(Batch(requests(["a", "b", "c"]), over: .prompt(over: transport)))
    let half = await run.report { $0.receivedBytes == 120 }
    #expect(half == BatchProgress(finished: 0, total: 3, receivedBytes: 120, expectedBytes: 3 * Self.count))

    await transport.resume(first: 3)
    let summary = await run.summaries.values(count: 1)[0]
    let (bytes, reports) = (3 * Self.count, run.progress.values)
    #expect(
      summary == BatchSummary(finished: 3, failed: 0, cancelled: 0, isCancelled: false, receivedBytes: bytes))
    #expect(reports.last == BatchProgress(finished: 3, total: 3, receivedBytes: bytes, expectedBytes: bytes))
    #expect(run.reportsBeforeEnd.values == [reports.count])
    #expect(reports.map(\.receivedBytes) == reports.map(\.receivedBytes).sorted())
  }

  @Test func `The expected bytes are unknown while one length is`() async throws {
    let run = Run(Batch(requests(["a", "unknown"]), over: .prompt(over: transport)))
    let half = try #require(await run.report { $0.receivedBytes == 80 })
    #expect(half.expectedBytes == nil)

    await transport.resume(first: 2)
    _ = await run.summaries.values(count: 1)
    #expect(run.progress.values.last?.expectedBytes == 2 * Self.count)
  }

  @Test func `Failures, cancellations and invalid requests count as elements, but have no bytes`() async {
    let invalid = ThumbnailRequest(url: "no URL", size: 4)
    let run = Run(Batch(requests(["a", "gone", "broken"]) + [invalid], over: .prompt(over: transport)))
    _ = await run.report { $0.receivedBytes == 80 && $0.finished == 2 }
    for exchange in transport.exchanges.values { exchange.resume() }

    let summary = await run.summaries.values(count: 1)[0]
    #expect(summary.failed == 3 && summary.receivedBytes == Self.count)
    let last = BatchProgress(
      finished: 4, failed: 3, total: 4, receivedBytes: Self.count, expectedBytes: Self.count)
    #expect(run.progress.values.last == last)
  }

  @Test func `Elements from the cache have no bytes, and a shared download counts for each of its elements`() async {
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    let first = Run(Batch(requests(["a", "a"]), over: pipeline))
    _ = await first.report { $0.receivedBytes == 80 }
    await transport.resume(first: 1)
    #expect(await first.summaries.values(count: 1)[0].receivedBytes == 2 * Self.count)
    #expect(pipeline.downloadedBytes == Self.count)

    let second = Run(Batch(requests(["a", "a", "a"]), over: pipeline))
    #expect(await second.summaries.values(count: 1)[0].receivedBytes == 0)
    #expect(second.progress.values.last == BatchProgress(finished: 3, total: 3, receivedBytes: 0, expectedBytes: 0))
    #expect(transport.requests.count == 1)
  }

  @Test func `Reports are an interval apart by the injected clock, except for the last one`() async {
    let clock = ManualClock()
    let pipeline = ThumbnailPipeline.prompt(over: transport) {
      $0.downloads.clock = clock
      $0.downloads.progressInterval = .seconds(1)
    }
    let run = Run(Batch(requests((0..<6).map { "\($0)" }), over: pipeline))
    await transport.resume(first: 6)
    _ = await run.summaries.values(count: 1)

    // The clock stands still.
    #expect(run.progress.values.count == 2)
    #expect(run.progress.values.last?.finished == 6 && run.progress.values.last?.receivedBytes == 6 * Self.count)
  }

  @Test func `A busy handler gets one report of all that has happened since`() async {
    let (isBusy, gate) = (Counter(), Gate())
    let (progress, done) = (Recorder<BatchProgress>(), Recorder<BatchSummary>())
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    Batch(requests((0..<6).map { "\($0)" }), over: pipeline).start { _ in
      if isBusy.next() == 1 { gate.wait() }
    } progress: {
      progress.record($0)
    } completion: {
      done.record($0)
    }
    await transport.resume(first: 6)
    await eventually { isBusy.value == 1 && pipeline.runningCount == 0 }
    let before = progress.values.count
    gate.open()

    _ = await done.values(count: 1)
    // One for the time of the wait, and at most one for each outcome after it.
    #expect(progress.values.count <= before + 7 && progress.values.last?.finished == 6)
  }

  @Test func `A canceled batch reports its cancellations`() async {
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    let (progress, done) = (Recorder<BatchProgress>(), Recorder<BatchSummary>())
    let run = Batch(requests(["a", "b"]), over: pipeline).start { _ in
    } progress: {
      progress.record($0)
    } completion: {
      done.record($0)
    }
    await eventually { progress.values.last?.receivedBytes == 80 }
    run.cancel()

    #expect(await done.values(count: 1)[0].receivedBytes == 0)
    #expect(progress.values.last == BatchProgress(finished: 2, cancelled: 2, total: 2, expectedBytes: 0))
  }

  @Test func `A batch that is iterated reports its progress too, and does not wait for the reader`() async {
    let progress = Recorder<BatchProgress>()
    let reading = Task {
      await Batch(requests(["a", "b"]), over: .prompt(over: transport)).forEach { item in
        // All bytes are reported while the first item is still being read.
        if item.finished == 1 { await eventually { progress.values.last?.receivedBytes == 2 * Self.count } }
      } progress: {
        progress.record($0)
      }
    }
    await transport.resume(first: 2)
    let summary = await reading.value

    #expect(summary.receivedBytes == 2 * Self.count)
    #expect(progress.values.last?.finished == 2)
  }

  @Test func `Without a handler for progress, the downloads of a batch report none`() async {
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    let done = Recorder<BatchSummary>()
    Batch(requests(["a"]), over: pipeline).start { _ in
    } completion: {
      done.record($0)
    }
    _ = await transport.exchanges.values(count: 1)
    let jobs = pipeline.context.jobs.withLock { $0.jobs }
    #expect(jobs.count == 1 && jobs.allSatisfy { !$0.wantsProgress })

    await transport.resume(first: 1)
    #expect(await done.values(count: 1)[0].receivedBytes == Self.count)
  }

  @Test func `The end of a batch releases the handler, even if its run is kept`() async {
    final class Captured: Sendable {}
    let (runs, done) = (Recorder<BatchRun>(), Recorder<BatchSummary>())
    weak var released: Captured?
    do {
      let captured = Captured()
      released = captured
      runs.record(
        Batch(requests(["a"]), over: .prompt(over: transport)).start { _ in
        } progress: { _ in
          withExtendedLifetime(captured) {}
        } completion: {
          done.record($0)
        })
    }
    await transport.resume(first: 1)
    _ = await done.values(count: 1)

    await eventually { released == nil }
    #expect(runs.values.count == 1)
  }
}
