import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// An image that appears on screen overtakes ten thousand that are prefetched, wherever they wait.
///
/// These tests keep the machine busy for seconds, so they run one at a time and outside the cooperative pool.
@Suite(.serialized, .ownThread, .timeLimit(.minutes(10))) struct PipelinePriorityTests {
  /// The way in which a request becomes urgent.
  enum Urgency: CaseIterable {
    case fromTheStart, later
  }

  /// The number of requests that are not urgent, at least 1. Default 10,000; THUMBS_CROWD_SIZE sets it.
  private static let count = environmentNumber("THUMBS_CROWD_SIZE") ?? 10_000
  private static let image = SampleImage.png(width: 8, height: 8)
  /// The names of the requests that are not urgent, in order.
  private static let crowd = (0..<count).map { "\($0)" }

  private let transport = ScriptedTransport { request, _ in
    switch request.source.lastPathComponent {
    case "held": [.hold] + .response([], status: 404)
    case "gone": .response([], status: 404)
    default: .response(image, fields: [.cacheControl: "max-age=3600"])
    }
  }
  /// The thread of all lookups, which runs unless a test holds it.
  private let lookUps = HeldThread(isHeld: false)
  /// The names of the requests that have ended.
  private let ends = Recorder<String>()
  private let queue = DispatchQueue(label: "ends")

  private func pipeline(
    in directory: TemporaryDirectory? = nil, _ change: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory?.path("cache"))
    configuration.downloads = .prompt
    configuration.renderThreads = 1
    configuration.maxBytesInHand = 1 << 40
    // A test that blocks a thread of a dispatch queue would block one of those that run Swift tasks, of which there are
    // as many as processors.
    configuration.makeThreads = { [lookUps] label, count in
      label == "thumbs.lookups" ? lookUps.threads : WorkThreads(count: count) { Thread(block: $0).start() }
    }
    change(&configuration)
    return ThumbnailPipeline(configuration, transport: transport)
  }

  private func request(_ name: String, _ priority: Priority = .normal) -> ThumbnailRequest {
    var request = ThumbnailRequest(url: "http://a.test/\(name)", size: 4)
    request.priority = priority
    return request
  }

  @discardableResult
  private func load(
    _ name: String, _ priority: Priority, after milestones: [Milestone] = [], on pipeline: ThumbnailPipeline
  ) -> ThumbnailToken {
    var request = request(name, priority)
    request.after = milestones
    return pipeline.load(request, on: queue) { [ends] _ in ends.record(name) }
  }

  /// Requests all images of the crowd with a low priority, and one that is urgent, just before the last of them.
  ///
  /// - Parameter wait: returns when all of them wait.
  private func loadCrowd(
    _ urgency: Urgency, on pipeline: ThumbnailPipeline, until wait: (ThumbnailContext) async -> Void
  ) async {
    for name in Self.crowd.dropLast() { load(name, .low, on: pipeline) }
    if urgency == .fromTheStart { await wait(pipeline.context) }
    let token = load("urgent", urgency == .later ? .low : .high, on: pipeline)
    load(Self.crowd[Self.count - 1], .low, on: pipeline)
    await wait(pipeline.context)
    guard urgency == .later else { return }
    // Work counts as waiting just before its job gets the handle by which the priority changes.
    await eventually { pipeline.context.jobs.withLock { $0.jobs.allSatisfy { $0.slot.hasHandle } } }
    token.setPriority(.high)
  }

  // MARK: The places where a request waits

  @Test(arguments: Urgency.allCases) func `An urgent request overtakes all that wait to be looked up`(urgency: Urgency)
    async
  {
    let pipeline = pipeline { $0.cacheMode = .offline }
    await lookUps.hold()

    await loadCrowd(urgency, on: pipeline) { _ in }
    #expect(pipeline.context.lookUps.waitingCount == Self.count + 1)
    lookUps.release()

    #expect(await ends.values(count: Self.count + 1) == ["urgent"] + Self.crowd)
  }

  @Test(arguments: Urgency.allCases) func `An urgent request overtakes all that wait for room in memory`(
    urgency: Urgency
  ) async throws {
    let directory = try TemporaryDirectory()
    let pipeline = pipeline(in: directory) {
      $0.cache.originals = .standard
      $0.maxBytesInHand = 0
    }
    for name in Self.crowd + ["urgent"] { try store(name, in: pipeline.cache) }
    await pipeline.flush()
    pipeline.context.budget.hold(1)

    await loadCrowd(urgency, on: pipeline) { context in
      await eventually { context.budget.waitingCount == context.jobs.withLock { $0.count } }
    }
    #expect(pipeline.context.budget.waitingCount == Self.count + 1)
    pipeline.context.budget.release(1)

    let first = await ends.values(count: 10)
    #expect(first.first == "urgent")
    pipeline.cancelAll()
    _ = await ends.values(count: Self.count + 1)
    #expect(transport.requests.isEmpty)
  }

  /// Stores an image and its original, without thumbnails.
  private func store(_ name: String, in cache: ThumbnailCache) throws {
    let url = try SourceURL(request(name).url).description
    let policy = CachePolicy.ofAny(
      response: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=3600"]), requestedAt: Date(),
      respondedAt: Date())
    let source = StoredSource(
      url: url, status: 200, policy: policy,
      content: .image(
        SourceImage(size: PixelSize(width: 8, height: 8), format: .png), digest: BodyDigest(of: Self.image),
        bytes: Self.image.count))
    cache.store(source, thumbnails: [], original: Self.image, for: SourceKey(url: url))
  }

  @Test(arguments: Urgency.allCases) func `An urgent request overtakes all that wait to be downloaded`(urgency: Urgency)
    async
  {
    let pipeline = pipeline {
      $0.downloads.concurrency = 1
      $0.downloads.perHost = 1
    }
    load("held", .high, on: pipeline)
    _ = await transport.exchanges.values(count: 1)

    await loadCrowd(urgency, on: pipeline) { context in
      // A download has a priority before it has a ticket, but only those with a ticket compete.
      await eventually { context.downloader.context.queue.ticketCount == context.jobs.withLock { $0.count } }
    }
    #expect(pipeline.context.downloader.runningCount == Self.count + 2)
    await transport.resume(first: 1)

    let exchanges = await transport.exchanges.values(count: 3)
    #expect(exchanges.prefix(2).map(\.request.source.lastPathComponent) == ["held", "urgent"])
    pipeline.cancelAll()
    _ = await ends.values(count: Self.count + 2)
  }

  @Test(arguments: Urgency.allCases) func `An urgent request overtakes all that wait to be rendered`(urgency: Urgency)
    async
  {
    let pipeline = pipeline()
    let gate = Gate()
    await pipeline.context.renders.occupy(1, until: gate)

    await loadCrowd(urgency, on: pipeline) { context in
      await eventually { context.renders.waitingCount == context.jobs.withLock { $0.count } }
    }
    #expect(pipeline.context.renders.waitingCount == Self.count + 1)
    gate.open()

    #expect(await ends.values(count: 1).first == "urgent")
    pipeline.cancelAll()
    _ = await ends.values(count: Self.count + 1)
  }

  @Test func `Another caller makes an image urgent for as long as it needs it`() async {
    let pipeline = pipeline { $0.cacheMode = .offline }
    await lookUps.hold()
    for name in ["a", "b", "c"] { load(name, .low, on: pipeline) }
    let others = ["c", "b"].map { name in pipeline.load(request(name, .high), on: queue) { _ in } }

    others[0].cancel()
    lookUps.release()

    #expect(await ends.values(count: 3) == ["b", "a", "c"])
  }

  // MARK: Leaving

  @Test func `A request that is canceled leaves the place where it waits at once`() async throws {
    let pipeline = pipeline { $0.maxBytesInHand = 0 }
    let context = pipeline.context
    let render = Gate()
    await context.renders.occupy(1, until: render)
    let rendered = load("a", .normal, on: pipeline)
    await eventually { context.renders.waitingCount == 1 && context.downloader.context.queue.isSuspended }

    await lookUps.hold()
    let lookedUp = load("b", .normal, on: pipeline)
    #expect(context.lookUps.waitingCount == 1)

    lookedUp.cancel()
    rendered.cancel()
    #expect(context.lookUps.waitingCount == 0 && context.renders.waitingCount == 0)
    // Its bytes are no longer in memory.
    await eventually { !context.downloader.context.queue.isSuspended }
    lookUps.release()
    render.open()
    _ = await ends.values(count: 2)
    #expect(pipeline.decodeCount == 0 && pipeline.runningCount == 0)
  }

  // MARK: Dependencies

  /// A pipeline whose lookups are held.
  private func heldPipeline() async -> ThumbnailPipeline {
    await lookUps.hold()
    return pipeline { $0.cacheMode = .offline }
  }

  @Test func `A request passes its priority to those whose end it waits for, and they to others`() async {
    let pipeline = await heldPipeline()
    let first = load("first", .low, on: pipeline)
    for number in 0..<100 { load("\(number)", .normal, on: pipeline) }
    let second = load("second", .low, after: [first.finished], on: pipeline)
    load("third", .high, after: [Milestone(), second.finished], on: pipeline)
    lookUps.release()

    #expect(await ends.values(count: 103).first == "first")
  }

  @Test func `A priority that changes while a request waits for another one passes on too`() async {
    let pipeline = await heldPipeline()
    let (first, other) = (load("first", .low, on: pipeline), load("other", .normal, on: pipeline))
    let second = load("second", .low, after: [first.finished, first.finished], on: pipeline)
    second.setPriority(.high)
    load("urgent", .high, on: pipeline)
    // A lower priority of the request itself does not count as long as another one waits for it.
    first.setPriority(.normal)
    other.setPriority(.high)
    lookUps.release()

    #expect(await ends.values(count: 3).prefix(3) == ["first", "urgent", "other"])
  }

  @Test(arguments: ["cancel", "lower"])
  func `A request is no longer urgent when the one that waits for it leaves or is less urgent`(change: String) async {
    let pipeline = await heldPipeline()
    let first = load("first", .low, on: pipeline)
    let second = load("second", .high, after: [first.finished], on: pipeline)
    load("other", .normal, on: pipeline)
    if change == "cancel" { second.cancel() } else { second.setPriority(.low) }
    lookUps.release()

    let order = await ends.values(count: 3).filter { $0 != "second" }
    #expect(order == ["other", "first"])
  }

  @Test func `The next mirror of a request is as urgent as the one that waits for it`() async {
    let pipeline = pipeline {
      $0.downloads.concurrency = 1
      $0.downloads.perHost = 1
    }
    var first = request("gone", .low)
    first.mirrors = [request("mirror").url]
    load("held", .high, on: pipeline)
    _ = await transport.exchanges.values(count: 1)
    let token = pipeline.load(first, on: queue) { [ends] _ in ends.record("first") }
    load("second", .high, after: [token.finished], on: pipeline)
    await eventually { pipeline.context.downloader.runningCount == 2 }

    #expect(token.caller.slot.state.withLock { $0.demand.priority } == .high)
    await transport.resume(first: 1)
    _ = await ends.values(count: 3)
    #expect(transport.paths == ["held", "gone", "mirror", "second"])
    #expect(token.caller.slot.state.withLock { $0.demand.priority } == .low)
  }
}

extension TaskHandleSlot {
  /// True while the running piece has its handle.
  fileprivate var hasHandle: Bool { state.withLock { $0.handle != nil } }
}
