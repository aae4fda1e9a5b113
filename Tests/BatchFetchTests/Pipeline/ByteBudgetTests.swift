import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(1))) struct ByteBudgetTests {
  @Test func `Above the limit nothing starts, at the limit it goes on`() async {
    let changes = Recorder<Bool>()
    let budget = ByteBudget(limit: 100) { changes.record($0) }
    budget.hold(60)
    budget.hold(40)
    budget.hold(1)
    #expect(await changes.values(count: 1) == [true])
    budget.hold(500)
    budget.release(500)
    budget.release(1)
    #expect(await changes.values(count: 2) == [true, false])
    budget.release(100)
    budget.hold(101)
    #expect(await changes.values(count: 3) == [true, false, true])
  }

  @Test func `Bodies that wait to be rendered stop the next ones, and all come in the end`() async throws {
    let fixture = try PipelineFixture { _ in .picture() }
    let pipeline = fixture.pipeline(change: {
      $0.maxBytesInHand = 1
      $0.renderThreads = 1
    })
    let requests = (0..<50).map { fixture.request("/\($0)") }
    var finished = 0
    for await item in Batch(requests, over: pipeline) where item.outcome.failure == nil { finished += 1 }
    #expect(finished == 50)
    await eventually { !pipeline.core.downloader.isSuspended }
  }
}
