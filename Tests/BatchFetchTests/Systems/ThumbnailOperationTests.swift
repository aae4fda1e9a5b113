import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// The thumbnail operation: result, failure, progress, cancel, priorities, dependencies, mirrors, and work shared with
/// other callers.
@Suite(.timeLimit(.minutes(20))) struct ThumbnailOperationTests {
  private static let image = SampleImage.png(width: 40, height: 30)

  private let queue = OperationQueue()
  /// Sends an image in two parts, and holds before the second one.
  private let held = ScriptedTransport { _, _ in
    [
      .head(200, [.contentLength: "\(image.count)"]), .bytes(Array(image[..<20])), .hold, .bytes(Array(image[20...])),
      .end,
    ]
  }
  /// Sends an image that is fresh for an hour. URLs whose last part begins with "gone" fail.
  private let quick = ScriptedTransport { request, _ in
    .response(
      image, status: request.source.lastPathComponent.hasPrefix("gone") ? 404 : 200,
      fields: [.cacheControl: "max-age=3600"])
  }

  private func request(_ path: String, size: Int = 16, mirrors: [String] = []) -> ThumbnailRequest {
    var request = ThumbnailRequest(url: "http://a.test/\(path)", size: size)
    request.mirrors = mirrors.map { "http://a.test/\($0)" }
    return request
  }

  // MARK: Progress and the end

  @Test func `An operation reports progress, then its thumbnails, and then finishes`() async {
    let reports = Recorder<DownloadProgress>()
    let operation = ThumbnailOperation(request("a"), over: ThumbnailPipeline.prompt(over: held)) { reports.record($0) }
    #expect(operation.name == "http://a.test/a" && operation.progress == nil && held.requests.isEmpty)

    queue.addOperation(operation)
    _ = await reports.values(count: 1)
    #expect(operation.progress == DownloadProgress(attempt: 1, received: 20, total: Self.image.count))
    #expect(operation.result == nil && operation.flags == ["ready", "executing"])

    await held.resume(first: 1)
    await operation.end()
    #expect(operation.set?.origin == .network && operation.set?.thumbnails.count == 1)
    #expect(operation.flags == ["ready", "finished"] && held.requests.count == 1)
    #expect(reports.values.map(\.received) == reports.values.map(\.received).sorted())
  }

  @Test func `Operations paused before they start send no request until they are resumed`() async {
    let pipeline = ThumbnailPipeline.prompt(over: quick)
    let operations = (0..<50).map { ThumbnailOperation(request("\($0)"), over: pipeline) }
    for operation in operations { operation.pause() }
    queue.add(operations)
    await eventually { pipeline.pausedCount == operations.count }
    #expect(quick.requests.isEmpty)

    for operation in operations { operation.resume() }
    for operation in operations { await operation.end() }
    #expect(operations.allSatisfy { $0.set?.origin == .network } && quick.requests.count == operations.count)
  }

  @Test func `A second operation is served from memory`() async {
    let pipeline = ThumbnailPipeline.prompt(over: quick)
    let operations = (0..<2).map { _ in ThumbnailOperation(request("a"), over: pipeline) }
    operations[1].addDependency(operations[0])

    queue.add(operations)
    await operations[1].end()

    #expect(operations.map(\.set?.origin) == [.network, .memory] && quick.requests.count == 1)
  }

  @Test(arguments: [("http://a.test/gone", FailureCode.http(404)), ("nothing", .badURL), ("file:///a", .blockedScheme)])
  func `A failed operation finishes with the failure, and its dependents run`(url: String, code: FailureCode) async {
    let operation = ThumbnailOperation(
      ThumbnailRequest(url: url, size: 16), over: ThumbnailPipeline.prompt(over: quick))

    queue.addOperation(operation)
    await operation.end()

    #expect(operation.result?.failure?.code == code && operation.flags == ["ready", "finished"])
  }

  @Test func `The completion block sees the result, and runs once`() async {
    let operation = ThumbnailOperation(request("a"), over: ThumbnailPipeline.prompt(over: quick))
    let results = Recorder<Int?>()
    operation.completionBlock = { [unowned operation] in results.record(operation.set?.thumbnails.count) }

    queue.addOperation(operation)

    #expect(await results.values(count: 1) == [1])
    await operation.end()
    #expect(results.values.count == 1)
  }

  @Test func `An operation tries its mirrors in order`() async {
    let pipeline = ThumbnailPipeline.prompt(over: quick)
    let operation = ThumbnailOperation(request("gone1", mirrors: ["gone2", "a", "b"]), over: pipeline)
    let failing = ThumbnailOperation(request("gone3", mirrors: ["gone4"]), over: pipeline)
    failing.addDependency(operation)

    queue.add([operation, failing])
    await failing.end()

    #expect(operation.set?.finalURL == "http://a.test/a" && operation.set?.attempts == 3)
    #expect(failing.result?.failure?.code == .http(404) && failing.result?.failure?.attempts == 2)
    #expect(quick.paths == ["gone1", "gone2", "a", "gone3", "gone4"])
  }

  // MARK: Cancel

  @Test func `An operation canceled before its queue starts it sends no request`() async {
    let pipeline = ThumbnailPipeline.prompt(over: held)
    let operations = ["first", "early", "queued"].map { ThumbnailOperation(request($0), over: pipeline) }
    let queue = OperationQueue(width: 1)

    operations[1].cancel()
    queue.add(operations)
    _ = await held.exchanges.values(count: 1)
    operations[2].cancel()
    await held.resume(first: 1)
    for operation in operations { await operation.end() }
    await queue.becomesEmpty()

    #expect(operations.map(\.result?.failure) == [nil, .cancelled, .cancelled])
    #expect(held.paths == ["first"])
  }

  @Test(arguments: [[], ["b"]])
  func `Canceling an operation during its transfer ends the transfer, and no mirror is tried`(mirrors: [String]) async {
    let pipeline = ThumbnailPipeline.prompt(over: held) { $0.downloads.concurrency = 1 }
    let operation = ThumbnailOperation(request("a", mirrors: mirrors), over: pipeline)
    queue.addOperation(operation)
    _ = await held.exchanges.values(count: 1)

    operation.cancel()
    await operation.end()
    #expect(operation.result?.failure?.code == .cancelled && operation.flags == ["ready", "finished", "cancelled"])
    // If the queue's thread is still beginning the request, it ends the operation, and then leaves the pipeline.
    await eventually { pipeline.runningCount == 0 }

    // There is one transfer at a time: without the cancellation, this one would wait forever.
    let other = ThumbnailOperation(request("other"), over: pipeline)
    queue.addOperation(other)
    await held.exchanges.values(count: 2)[1].resume()
    await other.end()
    #expect(other.result?.failure == nil && held.paths == ["a", "other"])
  }

  @Test func `Canceling everything in the pipeline finishes its operations, which are not canceled themselves`() async {
    let pipeline = ThumbnailPipeline.prompt(over: held)
    let operation = ThumbnailOperation(request("a", mirrors: ["b"]), over: pipeline)
    queue.addOperation(operation)
    _ = await held.exchanges.values(count: 1)

    pipeline.cancelAll()
    await operation.end()

    #expect(operation.result?.failure?.code == .cancelled && operation.flags == ["ready", "finished"])
  }

  // MARK: Order

  @Test func `The priority of an operation orders the transfers`() async {
    let pipeline = ThumbnailPipeline.prompt(over: held) { $0.downloads.perHost = 1 }
    let names = ["first", "a", "b", "c"]
    let operations = names.map { ThumbnailOperation(request($0), over: pipeline) }
    for (index, operation) in operations.enumerated() {
      queue.addOperation(operation)
      await eventually { pipeline.context.downloader.runningCount == index + 1 && operation.hasHandle }
    }
    _ = await held.exchanges.values(count: 1)

    operations[1].queuePriority = .veryLow
    operations[3].queuePriority = .veryHigh
    await held.resume(first: 4)
    for operation in operations { await operation.end() }

    #expect(held.paths == ["first", "c", "b", "a"])
  }

  @Test func `An operation waits for one of another queue and kind, without a place in its own queue`() async throws {
    let config = DownloadOperation(try DownloadRequest("config"), over: Downloader(.prompt, transport: held))
    let operation = ThumbnailOperation(request("a"), over: ThumbnailPipeline.prompt(over: quick))
    operation.addDependency(config)
    let narrow = OperationQueue(width: 1)
    let sentinels = Recorder<Int>()

    queue.addOperation(config)
    narrow.addOperation(operation)
    // The queue runs one operation at a time, in order: it reaches this one because the first is not ready.
    narrow.addOperation { sentinels.record(1) }
    _ = await sentinels.values(count: 1)
    #expect(operation.flags == [] && quick.requests.isEmpty)

    await held.resume(first: 1)
    await operation.end()
    #expect(operation.set?.origin == .network && config.isFinished)
  }

  // MARK: Sharing

  @Test func `Operations, a plain request and a batch for the same image share one request and one decode`() async {
    let pipeline = ThumbnailPipeline.prompt(over: held)
    let operations = (0..<2).map { _ in ThumbnailOperation(request("a"), over: pipeline) }
    let (plain, batch) = (Recorder<FailureCode?>(), Recorder<FailureCode?>())
    queue.add(operations)
    await eventually { pipeline.callerCount == operations.count }
    pipeline.load(request("a")) { plain.record($0.failure?.code) }
    let run = Batch([request("a")], over: pipeline).start { batch.record($0.outcome.failure?.code) }
    _ = await held.exchanges.values(count: 1)
    await eventually { pipeline.callerCount == 4 }

    await held.resume(first: 1)
    for operation in operations { await operation.end() }

    #expect(operations.allSatisfy { $0.set?.thumbnails.count == 1 })
    #expect(await plain.values(count: 1) == [nil])
    #expect(await batch.values(count: 1) == [nil])
    #expect(held.requests.count == 1 && pipeline.decodeCount == 1)
    withExtendedLifetime(run) {}
  }

  @Test func `Canceling an operation does not cancel a plain request for the same image, nor the other way round`()
    async
  {
    let pipeline = ThumbnailPipeline.prompt(over: held)
    let operations = (0..<2).map { _ in ThumbnailOperation(request("a"), over: pipeline) }
    let plain = (0..<2).map { _ in Recorder<FailureCode?>() }
    queue.add(operations)
    await eventually { pipeline.callerCount == operations.count }
    let tokens = plain.map { plain in pipeline.load(request("a")) { plain.record($0.failure?.code) } }
    _ = await held.exchanges.values(count: 1)

    operations[0].cancel()
    tokens[0].cancel()
    await operations[0].end()
    #expect(await plain[0].values(count: 1) == [.cancelled])
    #expect(operations[1].flags == ["ready", "executing"] && plain[1].values.isEmpty)

    await held.resume(first: 1)
    await operations[1].end()
    #expect(operations.map(\.result?.failure?.code) == [.cancelled, nil])
    #expect(await plain[1].values(count: 1) == [nil])
    #expect(held.requests.count == 1)
  }

  // MARK: Release

  /// Keeps its operation, whose closures capture it.
  private final class Owner: Sendable {
    let operation = Mutex<ThumbnailOperation?>(nil)
    let ends = Recorder<Void>()

    init(_ request: ThumbnailRequest, over pipeline: ThumbnailPipeline) {
      let operation = ThumbnailOperation(request, over: pipeline) { [self] _ in withExtendedLifetime(self) {} }
      operation.completionBlock = { [self] in ends.record(()) }
      self.operation.withLock { $0 = operation }
    }
  }

  @Test(arguments: ["a", "gone"])
  func `An operation that has ended keeps nothing, even if its closures captured its owner`(path: String) async throws {
    weak var releasedOwner: Owner?
    weak var releasedOperation: ThumbnailOperation?
    weak var releasedPipeline: ThumbnailPipeline?
    do {
      let pipeline = ThumbnailPipeline.prompt(over: quick)
      let owner = Owner(request(path), over: pipeline)
      let operation = try #require(owner.operation.withLock { $0 })
      (releasedOwner, releasedOperation, releasedPipeline) = (owner, operation, pipeline)
      queue.addOperation(operation)
      _ = await owner.ends.values(count: 1)
      #expect(operation.isFinished)
    }

    await eventually { releasedOwner == nil && releasedOperation == nil && releasedPipeline == nil }
  }

  @Test func `An operation that never starts is released, and so is its pipeline`() {
    weak var releasedOperation: ThumbnailOperation?
    weak var releasedPipeline: ThumbnailPipeline?
    do {
      let pipeline = ThumbnailPipeline.prompt(over: quick)
      let operation = ThumbnailOperation(request("a"), over: pipeline)
      operation.queuePriority = .high
      (releasedOperation, releasedPipeline) = (operation, pipeline)
    }

    #expect(releasedOperation == nil && releasedPipeline == nil)
    #expect(quick.requests.isEmpty)
  }
}

extension ThumbnailOperation {
  /// The thumbnails; nil for a failure.
  fileprivate var set: ThumbnailSet? { try? result?.get() }
}

extension ThumbnailPipeline {
  /// The number of downloads that are paused.
  fileprivate var pausedCount: Int {
    let jobs = downloader.context.state.withLock { $0.jobs.jobs }
    return jobs.count { $0.state.withLock { $0.machine.phase == .paused } }
  }

  /// The number of callers of the only image in flight.
  fileprivate var callerCount: Int {
    context.jobs.withLock { jobs in
      let callers = jobs.jobs.first.flatMap {
        jobs.waiting(for: $0.id)?.callers
      }
      return callers?.count ?? 0
    }
  }
}

extension ThumbnailOperation {
  /// True while the operation controls a request that it has begun.
  fileprivate var hasHandle: Bool { slot.state.withLock { $0.handle != nil } }
}
