import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// No host holds back the elements of another one, and no element waits for a place that it keeps from others.
@Suite(.timeLimit(.minutes(10))) struct BatchFairnessTests {
  /// A row of a manifest.
  private struct Row: Sendable {
    let url: String
    var after: [Milestone] = []
    var end = Milestone()

    init(_ index: Int, host: String, after: [Milestone] = []) {
      url = "http://\(host)/\(index)"
      self.after = after
    }

    var request: ThumbnailRequest {
      var request = ThumbnailRequest(url: url, size: 8)
      request.after = after
      return request
    }
  }

  /// Rows that count how often their end is read.
  private struct Rows: Sequence, Sendable {
    let rows: [Row]
    let ended: Counter

    func makeIterator() -> AnyIterator<Row> {
      var iterator = rows.makeIterator()
      return AnyIterator {
        let row = iterator.next()
        if row == nil { ended.next() }
        return row
      }
    }
  }

  /// A batch that has been started.
  private struct Run {
    let outcomes = Recorder<(finished: Int, code: FailureCode?)>()
    let summaries = Recorder<BatchSummary>()
    let pulled = Counter()
    let begun = Counter()
    /// 1 once the batch has read the end of its rows. All of them are begun or parked then.
    let ended = Counter()
    let batch: BatchRun

    init(_ rows: [Row], over pipeline: ThumbnailPipeline, window: Int = 4096) {
      let batch = Batch(Rows(rows: rows, ended: ended), over: pipeline, window: window) { [pulled] row in
        pulled.next()
        return row.request
      }
      self.batch = batch.start { [outcomes] item in
        outcomes.record((item.finished, item.outcome.failure?.code))
        item.element.end.reach()
      } completion: { [summaries] in
        summaries.record($0)
      } begin: { [begun] _ in
        begun.next()
      }
    }

    func expectCounts(_ count: Int) {
      #expect(outcomes.values.map(\.finished) == Array(1...count))
      #expect(summaries.values.count == 1)
    }
  }

  private static let image = SampleImage.png(width: 8, height: 8)

  /// Holds each request until the test resumes it.
  private let holding = ScriptedTransport { _, _ in [.hold] + .response(image) }

  private func pipeline(
    _ transport: ScriptedTransport, clock: any Clock<Duration> = ContinuousClock()
  ) -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .patient
    configuration.downloads.clock = clock
    configuration.renderThreads = 2
    return ThumbnailPipeline(configuration, transport: transport)
  }

  @Test func `Rows that are grouped by ten hosts keep all sixteen transfers busy`() async {
    let count = environmentNumber("THUMBS_CROWD_SIZE") ?? 2000
    let run = Run((0..<count).map { Row($0, host: "\($0 * 10 / count).test") }, over: pipeline(holding))

    // Near the end, the remaining rows may be of fewer hosts than all transfers need.
    for index in 0..<count - 200 { await holding.exchanges.values(count: index + 16)[index].resume() }
    for index in count - 200..<count { await holding.exchanges.values(count: index + 1)[index].resume() }

    let summary = await run.summaries.values(count: 1)[0]
    #expect(summary.succeeded == count && holding.load.peak == 16)
    run.expectCounts(count)
  }

  @Test func `A host that never responds holds back none of a thousand later rows`() async {
    let transport = ScriptedTransport { request, _ in
      request.source.host == "dead.test" ? [.hold] : .response(Self.image)
    }
    let dead = (0..<300).map { Row($0, host: "dead.test") }
    let run = Run(dead + (0..<1000).map { Row($0, host: "\($0 / 250).test") }, over: pipeline(transport))

    let outcomes = await run.outcomes.values(count: 1000)
    #expect(outcomes.allSatisfy { $0.code == nil })
    #expect(transport.requests.count { $0.source.host == "dead.test" } == 6)

    run.batch.cancel()
    let summary = await run.summaries.values(count: 1)[0]
    let bytes = 1000 * Self.image.count
    #expect(
      summary == BatchSummary(finished: 1300, failed: 0, cancelled: 300, isCancelled: true, receivedBytes: bytes))
    run.expectCounts(1300)
  }

  @Test func `A hundred paused hosts hold back none of a thousand later rows`() async {
    let transport = ScriptedTransport { request, _ in
      let isPaused = request.source.host.hasPrefix("paused")
      return isPaused ? .response([], status: 429, fields: [.retryAfter: "30"]) : .response(Self.image)
    }
    let paused = (0..<10_000).map { Row($0, host: "paused\($0 / 100).test") }
    // The clock stands still, so no pause ends.
    let pipeline = pipeline(transport, clock: ManualClock())
    let run = Run(paused + (0..<1000).map { Row($0, host: "\($0 / 250).test") }, over: pipeline)

    let outcomes = await run.outcomes.values(count: 1000)
    #expect(outcomes.allSatisfy { $0.code == nil })

    run.batch.cancel()
    run.expectCounts(Int(await run.summaries.values(count: 1)[0].finished))
  }

  @Test func `Rows that wait for a parked row and fill the window do not keep it from beginning`() async {
    let first = (0..<40).map { Row($0, host: "a.test") }
    let waiting = (0..<300).map { Row($0, host: "b.test", after: [first[39].end]) }
    let run = Run(first + waiting, over: pipeline(holding), window: 256)
    // 24 rows of the first host begin and 16 are parked, so there is room for 232 others.
    await eventually { run.begun.value == 256 && run.pulled.value == 272 }

    for index in 0..<340 { await holding.exchanges.values(count: index + 1)[index].resume() }

    #expect(await run.summaries.values(count: 1)[0].succeeded == 340)
    #expect(holding.requests.prefix(40).allSatisfy { $0.source.host == "a.test" })
    run.expectCounts(340)
  }

  @Test func `Canceling a batch gives each parked element one outcome, and begins none`() async {
    let run = Run((0..<1000).map { Row($0, host: "a.test") }, over: pipeline(holding))
    await eventually { run.ended.value == 1 }
    _ = await holding.exchanges.values(count: 6)

    for _ in 0..<2 { run.batch.cancel() }

    let summary = await run.summaries.values(count: 1)[0]
    #expect(summary == BatchSummary(finished: 1000, failed: 0, cancelled: 1000, isCancelled: true))
    #expect(run.begun.value == 24 && holding.requests.count == 6)
    run.expectCounts(1000)
  }

  @Test func `A pipeline that cancels everything also cancels parked elements`() async {
    let pipeline = pipeline(holding)
    let run = Run((0..<100).map { Row($0, host: "a.test") }, over: pipeline)
    await eventually { run.ended.value == 1 }
    _ = await holding.exchanges.values(count: 6)

    pipeline.cancelAll()

    let summary = await run.summaries.values(count: 1)[0]
    #expect(summary == BatchSummary(finished: 100, failed: 0, cancelled: 100, isCancelled: false))
    #expect(holding.requests.count == 6)
    run.expectCounts(100)
  }

  @Test func `A loop over a batch that is canceled gets every element that was pulled`() async {
    let (rows, pulled) = ((0..<1000).map { Row($0, host: "a.test") }, Counter())
    let batch = Batch(rows, over: pipeline(holding)) { row in
      pulled.next()
      return row.request
    }
    let loop = Task {
      var indices: Set<Int> = []
      for await item in batch { indices.insert(item.index) }
      return indices
    }
    await eventually { pulled.value == 1000 }

    loop.cancel()

    #expect(await loop.value.count == 1000)
  }

  @Test func `A milestone that only a request of a batch refers to holds up nothing`() async {
    let transport = ScriptedTransport { _, _ in .response(Self.image) }
    let batch = Batch(0..<3, over: pipeline(transport)) { index in
      Row(index, host: "a.test", after: [Milestone()]).request
    }
    var finished = 0

    for await item in batch where item.outcome.failure == nil { finished += 1 }

    #expect(finished == 3)
  }

  @Test(arguments: [
    ("http://a.test/1.png", "a.test"), ("https://A.test:8443/1.png", "a.test:8443"), ("file:///1.png", nil),
    ("http://[", nil),
  ])
  func `A request takes places of the host in its URL`(url: String, host: String?) {
    var request = ThumbnailRequest(url: url, size: 8)
    #expect(request.parsed().hostInBatch == host)

    request.after = [Milestone()]
    #expect(request.parsed().hostInBatch == nil)
  }

  @Test(arguments: [("a.test", 2, 24), ("cdn.test", 2, 64), ("a.test", 64, 70)])
  func `The limit of a host follows the configuration`(host: String, threads: Int, limit: Int) throws {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.renderThreads = threads
    configuration.downloads.hosts[try HostPattern("cdn.test")] = HostRule(perHost: 16)

    #expect(configuration.requests(of: host) == limit)
  }

  @Test func `The canonical form of a URL is forgotten when the URL changes`() throws {
    var request = ThumbnailRequest(url: "http://A.test/1.png", size: 8).parsed()
    let first = try request.canonicalURL()

    request.url = "http://B.test/1.png"

    #expect(first.host == "a.test" && request.source == nil)
    #expect(try request.canonicalURL().host == "b.test")
  }
}
