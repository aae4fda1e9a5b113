import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// The step of a batch that several threads take at a time.
@Suite(.timeLimit(.minutes(20))) struct BatchPreparationTests {
  private static let image = SampleImage.png(width: 8, height: 8)

  private func pipeline(renderThreads: Int) -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt
    configuration.renderThreads = renderThreads
    let transport = ScriptedTransport { _, _ in
      [.head(200, [.contentLength: "\(Self.image.count)"]), .bytes(Self.image), .end]
    }
    return ThumbnailPipeline(configuration, transport: transport)
  }

  @Test func `Outcomes are prepared on several threads at a time, and delivered one at a time`() async {
    let (arrivals, both, load) = (Counter(), Gate(), LoadMeter())
    let done = Recorder<BatchSummary>()
    let batch = Batch(0..<8, over: pipeline(renderThreads: 2)) { ThumbnailRequest(url: "http://a.test/\($0)", size: 4) }

    batch.start { _, _ in
      // The first two outcomes wait for each other.
      if arrivals.next() == 2 { both.open() }
      both.wait()
    } each: { _, _ in
      load.enter()
      load.leave()
    } completion: {
      done.record($0)
    }

    #expect(await done.values(count: 1).map(\.succeeded) == [8])
    #expect(load.peak == 1)
  }

  @Test func `An item is delivered with what was prepared for it, whatever its outcome`() async {
    let (items, done) = (Recorder<[String]>(), Recorder<BatchSummary>())
    let batch = Batch(0..<20, over: pipeline(renderThreads: 2)) { number throws(FetchFailure) in
      if number % 5 == 1 { throw FetchFailure(.badRow, "Row \(number) is bad.") }
      return ThumbnailRequest(url: number % 5 == 2 ? "bad" : "http://a.test/\(number)", size: 4)
    }

    batch.start { number, outcome in
      "\(number) \(outcome.failure?.code.description ?? "ok")"
    } each: { item, prepared in
      items.record([prepared, "\(item.element) \(item.outcome.failure?.code.description ?? "ok")"])
    } completion: {
      done.record($0)
    }

    #expect(await done.values(count: 1).map(\.failed) == [8])
    #expect(items.values.count == 20 && items.values.allSatisfy { $0[0] == $0[1] })
    #expect(Set(items.values.map { $0[0] }).isSuperset(of: ["0 ok", "1 bad_row", "2 bad_url"]))
  }

  @Test func `Each outcome is prepared once, those of a canceled batch as well`() async {
    let (prepared, done, run) = (Recorder<Int>(), Recorder<BatchSummary>(), Recorder<BatchRun>())
    let isStarted = Gate()
    let batch = Batch(0..<100, over: pipeline(renderThreads: 1), window: 16) {
      ThumbnailRequest(url: "http://a.test/\($0)", size: 4)
    }

    run.record(
      batch.start { number, _ in
        prepared.record(number)
      } each: { item, _ in
        guard item.finished == 1 else { return }
        isStarted.wait()
        run.values.first?.cancel()
      } completion: {
        done.record($0)
      })
    isStarted.open()

    let summary = await done.values(count: 1)[0]
    #expect(summary.isCancelled)
    #expect(prepared.values.count == summary.finished && Set(prepared.values).count == summary.finished)
  }
}
