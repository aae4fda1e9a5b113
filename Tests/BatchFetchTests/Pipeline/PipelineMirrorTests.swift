import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

@Suite("Pipeline: mirrors", .timeLimit(.minutes(5))) struct PipelineMirrorTests {
  private func request(_ fixture: PipelineFixture, _ paths: [String]) -> ThumbnailRequest {
    var request = fixture.request(paths[0])
    request.mirrors = paths.dropFirst().map { fixture.server.url($0) }
    return request
  }

  @Test func `Addresses are asked in order until one has the picture`() async throws {
    let fixture = try PipelineFixture { $0.target == "/there.png" ? .image() : .http(404) }
    let set = try await fixture.pipeline().thumbnails(
      for: request(fixture, ["/gone.png", "/gone2.png", "/there.png", "/never.png"]))
    #expect(fixture.server.requests.map(\.target) == ["/gone.png", "/gone2.png", "/there.png"])
    #expect(set.finalURL == fixture.server.url("/there.png"))
    #expect(set.attempts == 3)
  }

  @Test func `The first address alone is asked where it has the picture`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let set = try await fixture.pipeline().thumbnails(for: request(fixture, ["/a.png", "/b.png"]))
    #expect(fixture.server.requests.map(\.target) == ["/a.png"])
    #expect(set.finalURL == nil)
  }

  @Test(arguments: [(503, 404), (404, 503)])
  func `Where all fail, a failure that may pass stands for them`(first: Int, second: Int) async throws {
    let fixture = try PipelineFixture { .http($0.target == "/1.png" ? first : second) }
    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: request(fixture, ["/1.png", "/2.png"]))
    }
    #expect(failure?.code == .http(503))
    #expect(failure?.attempts == 2)
  }

  @Test func `A cancel between two addresses ends with the one that is asked`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.target == "/1.png" ? .http(404) : .image().after(gate) }
    let outcomes = Recorder<Result<ThumbnailSet, FetchFailure>>()
    let pipeline = fixture.pipeline()
    let token = pipeline.load(request(fixture, ["/1.png", "/2.png", "/3.png"])) { outcomes.record($0) }
    await fixture.server.waitForRequests(2)
    token.cancel()
    let outcome = await outcomes.values(count: 1)[0]
    gate.open()
    #expect(throws: FetchFailure.self) { try outcome.get() }
    if case .failure(let failure) = outcome { #expect(failure.code == .cancelled) }
    #expect(!fixture.server.requests.contains { $0.target == "/3.png" })
  }

  @Test func `Cancelled with everything else, it asks no further address`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.target == "/1.png" ? .http(503) : .image().after(gate) }
    let outcomes = Recorder<FailureCode?>()
    let pipeline = fixture.pipeline()
    pipeline.load(request(fixture, ["/1.png", "/2.png", "/3.png"])) { outcomes.record($0.failure?.code) }
    await fixture.server.waitForRequests(2)
    pipeline.cancelAll()
    #expect(await outcomes.values(count: 1) == [.cancelled])
    gate.open()
    #expect(pipeline.runningCount == 0 && fixture.server.requests.map(\.target) == ["/1.png", "/2.png"])
  }
}

@Suite("Pipeline: milestones", .timeLimit(.minutes(5))) struct PipelineMilestoneTests {
  @Test func `A request begins when all of its milestones are reached`() async throws {
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

  @Test func `A milestone that nobody can reach any more holds up nobody`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let outcomes = Recorder<FailureCode?>()
    var waiting = fixture.request("/late.png")
    waiting.after = [Milestone()]
    fixture.pipeline().load(waiting) { outcomes.record($0.failure?.code) }
    waiting.after = []
    #expect(await outcomes.values(count: 1) == [nil])
  }

  @Test(arguments: ["by itself", "with everything else"])
  func `A request that waits can be cancelled, and never begins then`(way: String) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    let outcomes = Recorder<FailureCode?>()
    let milestone = Milestone()
    var waiting = fixture.request("/late.png")
    waiting.after = [milestone]
    let token = pipeline.load(waiting) { outcomes.record($0.failure?.code) }
    for _ in 0..<2 {
      if way == "by itself" { token.cancel() } else { pipeline.cancelAll() }
    }
    #expect(await outcomes.values(count: 1) == [.cancelled])
    milestone.reach()
    #expect(pipeline.runningCount == 0)
    _ = try await pipeline.thumbnails(for: fixture.request("/other.png"))
    #expect(outcomes.values.count == 1)
    #expect(fixture.server.requests.map(\.target) == ["/other.png"])
  }
}
