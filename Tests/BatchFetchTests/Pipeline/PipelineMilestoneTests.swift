import DownloadSupport
import TestSupport
import Testing

@testable import BatchFetch

/// Requests that wait for milestones.
@Suite(.timeLimit(.minutes(20))) struct PipelineMilestoneTests {
  @Test func `A request begins once all of its milestones are reached`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    let outcomes = Recorder<String>()
    let milestones = [Milestone(), Milestone()]
    var waiting = fixture.request("/late.png")
    waiting.after = milestones

    pipeline.load(waiting) { _ in outcomes.record("late") }
    pipeline.load(fixture.request("/early.png")) { _ in outcomes.record("early") }
    #expect(await outcomes.values(count: 1) == ["early"])

    milestones[1].reach()
    #expect(pipeline.runningCount == 0)

    milestones[0].reach()
    milestones[0].reach()
    #expect(await outcomes.values(count: 2) == ["early", "late"])
    #expect(fixture.server.requests.map(\.target) == ["/early.png", "/late.png"])
  }

  @Test func `A released milestone holds up no request`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let outcomes = Recorder<FailureCode?>()
    var waiting = fixture.request("/late.png")
    waiting.after = [Milestone()]

    fixture.pipeline().load(waiting) { outcomes.record($0.failure?.code) }
    waiting.after = []

    #expect(await outcomes.values(count: 1) == [nil])
  }

  @Test(arguments: ["by itself", "with everything else"])
  func `A request canceled while it waits never begins`(cancel: String) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    let outcomes = Recorder<FailureCode?>()
    let milestone = Milestone()
    var waiting = fixture.request("/late.png")
    waiting.after = [milestone]
    let token = pipeline.load(waiting) { outcomes.record($0.failure?.code) }

    for _ in 0..<2 {
      if cancel == "by itself" { token.cancel() } else { pipeline.cancelAll() }
    }
    #expect(await outcomes.values(count: 1) == [.cancelled])

    milestone.reach()
    #expect(pipeline.runningCount == 0)

    _ = try await pipeline.thumbnails(for: fixture.request("/other.png"))
    #expect(outcomes.values.count == 1)
    #expect(fixture.server.requests.map(\.target) == ["/other.png"])
  }
}
