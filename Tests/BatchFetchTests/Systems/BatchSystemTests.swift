import BatchFetch
import DownloadSupport
import TestSupport
import Testing

/// The batch: many requests as one, with progress, an asynchronous sequence, and a cancel that spares work that others
/// need.
@Suite(.timeLimit(.minutes(20))) struct BatchSystemTests {
  /// One report of progress, with the element's index and the failure code of its outcome.
  private struct Report: Sendable, Equatable {
    let finished: Int
    let total: Int?
    let index: Int
    let code: FailureCode?

    init(_ item: BatchItem<ThumbnailRequest>) {
      (finished, total, index) = (item.finished, item.total, item.index)
      code = item.outcome.failure?.code
    }
  }

  /// Every third of 30 images is missing.
  private func fixture() throws -> (PipelineFixture, [ThumbnailRequest]) {
    let fixture = try PipelineFixture { $0.target.hasPrefix("/missing") ? .http(404) : .image() }
    return (fixture, (0..<30).map { fixture.request($0 % 3 == 0 ? "/missing\($0)" : "/\($0)") })
  }

  private func expectSound(_ reports: [Report]) {
    #expect(reports.map(\.finished) == Array(1...30))
    #expect(reports.allSatisfy { $0.total == 30 })
    #expect(Set(reports.map(\.index)).count == 30)
    #expect(reports.allSatisfy { $0.code == ($0.index % 3 == 0 ? .http(404) : nil) })
  }

  @Test func `Each handler gets the outcome of its item and a count that grows from one to the total`() async throws {
    let (fixture, requests) = try fixture()
    let (reports, summaries) = (Recorder<Report>(), Recorder<BatchSummary>())

    Batch(requests, over: fixture.pipeline()).start { item in
      reports.record(Report(item))
    } completion: { summary in
      summaries.record(summary)
    }

    let summary = await summaries.values(count: 1)[0]
    #expect([summary.finished, summary.failed, summary.cancelled] == [30, 10, 0] && !summary.isCancelled)
    expectSound(reports.values)
  }

  @Test func `A loop over the batch gets the same items and ends after the last one`() async throws {
    let (fixture, requests) = try fixture()
    var reports: [Report] = []

    for await item in Batch(requests, over: fixture.pipeline()) { reports.append(Report(item)) }

    expectSound(reports)
  }

  @Test func `A thousand rows of ten images make ten requests and have a thousand outcomes`() async throws {
    let fixture = try PipelineFixture { _ in .image(fields: [:]) }
    let requests = (0..<1000).map { fixture.request("/\($0 % 10)") }
    var reports: [Report] = []

    for await item in Batch(requests, over: fixture.pipeline()) { reports.append(Report(item)) }

    #expect(reports.map(\.finished) == Array(1...1000))
    #expect(reports.allSatisfy { $0.code == nil && $0.total == 1000 })
    #expect(Set(reports.map(\.index)).count == 1000)
    #expect(fixture.server.requests.count == 10)
  }

  @Test func `Canceling a batch cancels only the work that nobody else needs`() async throws {
    let gate = Gate()
    // Only the batch requests "/own", whose body never ends.
    let fixture = try PipelineFixture { request in
      request.target == "/own"
        ? ServerReply([.send(ServerReply.head(200, ["Content-Length": "9"]))]) : .image().after(gate)
    }
    let pipeline = fixture.pipeline()
    let other = Recorder<Result<ThumbnailSet, FetchFailure>>()
    pipeline.load(fixture.request("/shared")) { other.record($0) }
    let (items, summaries) = (Recorder<FailureCode?>(), Recorder<BatchSummary>())
    let run = Batch([fixture.request("/shared"), fixture.request("/own")], over: pipeline).start {
      items.record($0.outcome.failure?.code)
    } completion: {
      summaries.record($0)
    }
    await fixture.server.waitForRequests(2)

    run.cancel()
    await fixture.server.waitForClosedConnections(1)
    let summary = await summaries.values(count: 1)[0]
    #expect([summary.finished, summary.failed, summary.cancelled] == [2, 0, 2] && summary.isCancelled)
    #expect(items.values == [.cancelled, .cancelled])
    #expect(other.values.isEmpty && pipeline.runningCount == 1)

    gate.open()
    #expect(await other.values(count: 1).first?.failure == nil)
    #expect(fixture.server.requests.map(\.target).sorted() == ["/own", "/shared"])
  }
}
