import BatchFetch
import Dispatch
import DownloadSupport
import TestSupport
import Testing

/// The last block of a dispatch group: a batch calls its completion once, after the handlers of all items have
/// returned, whatever became of the items. Its group can be joined.
@Suite(.timeLimit(.minutes(20))) struct GroupCompletionTests {
  enum Situation: String, CaseIterable {
    case empty, new, cached, failing, joined, canceled
  }

  private enum Event: Sendable, Equatable {
    case handlerBegins, handlerReturns
    case completion(finished: Int)
  }

  /// Holds back the images whose paths contain "held".
  private let gate = Gate()
  private let fixture: PipelineFixture

  init() throws {
    fixture = try PipelineFixture { [gate] request in
      if request.target.contains("bad") { return .http(404) }
      return request.target.contains("held") ? .image().after(gate) : .image()
    }
  }

  private func requests(_ situation: Situation) -> [ThumbnailRequest] {
    switch situation {
    case .empty: []
    case .failing: (0..<20).map { fixture.request($0 % 2 == 0 ? "/\($0)" : "/bad\($0)") }
    case .joined, .canceled: (0..<20).map { fixture.request("/held\($0)") }
    case .new, .cached: (0..<20).map { fixture.request("/\($0)") }
    }
  }

  private func start(
    _ requests: [ThumbnailRequest], over pipeline: ThumbnailPipeline
  ) -> (run: BatchRun, events: Recorder<Event>, completions: Recorder<BatchSummary>) {
    let (events, completions) = (Recorder<Event>(), Recorder<BatchSummary>())
    let run = Batch(requests, over: pipeline).start { _ in
      events.record(.handlerBegins)
      events.record(.handlerReturns)
    } completion: {
      events.record(.completion(finished: $0.finished))
      completions.record($0)
    }
    return (run, events, completions)
  }

  @Test(arguments: Situation.allCases)
  func `The completion runs once, after all handlers have returned`(situation: Situation) async throws {
    let (pipeline, requests) = (fixture.pipeline(), requests(situation))
    if situation == .cached { for request in requests { _ = try await pipeline.thumbnails(for: request) } }
    let others = Recorder<Result<ThumbnailSet, FetchFailure>>()
    if situation == .joined { for request in requests { pipeline.load(request) { others.record($0) } } }

    let (run, events, completions) = start(requests, over: pipeline)
    if situation == .canceled {
      await fixture.server.waitForRequests(1)
      run.cancel()
      run.cancel()
    } else {
      gate.open()
    }
    let summary = await completions.values(count: 1)[0]
    run.cancel()
    _ = await start([fixture.request("/last")], over: pipeline).completions.values(count: 1)

    #expect(completions.values.count == 1)
    let items = (0..<summary.finished).flatMap { _ in [Event.handlerBegins, .handlerReturns] }
    #expect(events.values == items + [.completion(finished: summary.finished)])
    let counts = [summary.finished, summary.failed, summary.cancelled]
    switch situation {
    case .empty: #expect(counts == [0, 0, 0])
    case .failing: #expect(counts == [20, 10, 0])
    case .canceled: #expect(summary.finished > 0 && summary.cancelled == summary.finished)
    case .new, .cached, .joined: #expect(counts == [20, 0, 0])
    }
    #expect(summary.isCancelled == (situation == .canceled))
    if situation == .joined { #expect(await others.values(count: 20).allSatisfy { $0.failure == nil }) }
    if situation == .canceled { gate.open() }
    // One request for each image and one for the last batch.
    if situation == .cached || situation == .joined { #expect(fixture.server.requests.count == 21) }
  }

  @Test func `The group is entered, and the completion held back, until the last handler has returned`() async throws {
    let (isInside, events) = (Recorder<Void>(), Recorder<Event>())
    let run = Batch([fixture.request("/a")], over: fixture.pipeline()).start { [gate] _ in
      isInside.record(())
      gate.wait()
      events.record(.handlerReturns)
    } completion: {
      events.record(.completion(finished: $0.finished))
    }
    _ = await isInside.values(count: 1)

    // Another batch runs to its end while the handler of this one is busy.
    _ = await start([fixture.request("/b")], over: fixture.pipeline()).completions.values(count: 1)
    #expect(!run.group.isEmpty)
    #expect(events.values.isEmpty)

    gate.open()
    #expect(await events.values(count: 2) == [.handlerReturns, .completion(finished: 1)])
  }

  @Test func `A plain thread that waits for the group continues after the last handler`() async throws {
    let waits = Recorder<Int>()
    let (run, events, completions) = start(requests(.joined), over: fixture.pipeline())

    run.group.waitOnThread { waits.record(events.values.count { $0 == .handlerReturns }) }
    await fixture.server.waitForRequests(1)
    #expect(!run.group.isEmpty)
    #expect(waits.values.isEmpty)
    gate.open()

    #expect(await waits.values(count: 1) == [20])
    #expect(await completions.values(count: 1).first?.finished == 20)
  }

  @Test func `A block that joins the group runs after the last handler`() async throws {
    let (run, events, _) = start(requests(.joined), over: fixture.pipeline())
    let joined = Recorder<Int>()

    run.group.notify(queue: .global()) { joined.record(events.values.count { $0 == .handlerReturns }) }
    gate.open()

    #expect(await joined.values(count: 1) == [20])
  }
}
