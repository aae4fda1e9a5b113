import DownloadSupport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Downloads

/// Download operations together with others: order, limits, dependencies, shared downloads, and release.
@Suite(.timeLimit(.minutes(20))) struct DownloadOperationQueueTests {
  private let held = ScriptedTransport { _, _ in [.hold] + .response([1]) }
  private let quick = ScriptedTransport { _, _ in .response([1]) }
  private let queue = OperationQueue()

  // MARK: Order

  @Test(arguments: ["before", "after"])
  func `The priority of an operation, set before or after its start, orders the transfers`(time: String) async throws {
    let downloader = Downloader(.serial, transport: held)
    _ = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)
    let operations = try ["a", "b", "c", "d", "e"].map { name in
      DownloadOperation(try DownloadRequest(name, priority: name == "e" ? .high : .normal), over: downloader)
    }
    #expect(operations.map(\.queuePriority) == [.normal, .normal, .normal, .normal, .high])
    func setPriorities() {
      for (operation, priority) in zip(operations, [.veryLow, .normal, .veryHigh, .low] as [Operation.QueuePriority]) {
        operation.queuePriority = priority
      }
    }

    // The operations join one by one, so that only the downloader can change their order.
    if time == "before" { setPriorities() }
    for operation in operations {
      queue.addOperation(operation)
      await operation.hasBegun()
    }
    if time == "after" { setPriorities() }
    await held.resume(first: 6)
    for operation in operations { await operation.end() }

    let urgent = time == "before" ? ["c", "e"] : ["e", "c"]
    #expect(held.paths == ["first"] + urgent + ["b", "a", "d"])
    #expect(operations.map(\.queuePriority) == [.veryLow, .normal, .veryHigh, .low, .high])
  }

  @Test func `A queue starts as many operations as its limit allows`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    let operations = try (0..<6).map { DownloadOperation(try DownloadRequest("\($0)"), over: downloader) }
    let queue = OperationQueue(width: 2)
    let events = Recorder<String>()

    queue.add(operations)
    onThread {
      queue.waitUntilAllOperationsAreFinished()
      events.record("finished")
    }
    _ = await held.exchanges.values(count: 2)
    #expect(downloader.runningCount == 2 && queue.operationCount == 6)

    await held.resume(first: 6)
    _ = await events.values(count: 1)
    #expect(held.load.peak == 2 && operations.allSatisfy { $0.result?.body == [1] })
  }

  // MARK: Dependencies

  @Test func `An operation waits for one of another kind, without a place in its queue`() async throws {
    let gate = Gate()
    let login = BlockOperation { gate.wait() }
    let operation = DownloadOperation(try DownloadRequest("a"), over: Downloader(.prompt, transport: quick))
    operation.addDependency(login)
    let narrow = OperationQueue(width: 1)
    let sentinels = Recorder<Int>()

    OperationQueue().addOperation(login)
    narrow.addOperation(operation)
    // The queue runs one operation at a time, in order: it reaches this one because the first is not ready.
    narrow.addOperation { sentinels.record(1) }
    _ = await sentinels.values(count: 1)
    #expect(operation.flags == [] && quick.requests.isEmpty)

    gate.open()
    await operation.end()
    #expect(operation.result?.body == [1])
  }

  @Test(arguments: ["succeeds", "fails", "is canceled"])
  func `A download of one queue waits for one of another, however that ends`(end: String) async throws {
    let transport = ScriptedTransport { request, _ in
      guard request.source.lastPathComponent == "config" else { return .response([2]) }
      return [.hold] + (end == "fails" ? [.fail(.tls)] : .response([1]))
    }
    let config = DownloadOperation(try DownloadRequest("config"), over: Downloader(.prompt, transport: transport))
    let package = DownloadOperation(try DownloadRequest("package"), over: Downloader(.prompt, transport: transport))
    package.addDependency(config)
    let narrow = OperationQueue(width: 1)
    let sentinels = Recorder<Int>()

    narrow.addOperation(package)
    queue.addOperation(config)
    narrow.addOperation { sentinels.record(1) }
    _ = await sentinels.values(count: 1)
    _ = await transport.exchanges.values(count: 1)
    #expect(package.flags == [] && transport.paths == ["config"])

    if end == "is canceled" { config.cancel() } else { await transport.resume(first: 1) }
    await package.end()
    #expect(config.isFinished && (config.result?.failure == nil) == (end == "succeeds"))
    #expect(package.result?.body == [2] && transport.paths == ["config", "package"])
  }

  // MARK: Sharing

  @Test func `An operation and a plain download of the same bytes share one request`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    let plain = downloader.start(try DownloadRequest("a"))
    let operations = try (0..<2).map { _ in DownloadOperation(try DownloadRequest("a"), over: downloader) }
    for operation in operations {
      queue.addOperation(operation)
      await operation.hasBegun()
    }

    await held.resume(first: 1)
    for operation in operations { await operation.end() }

    #expect(await plain.outcome.only().body == [1])
    #expect(operations.allSatisfy { $0.result?.body == [1] })
    #expect(held.requests.count == 1)
  }

  @Test func `Canceling an operation does not cancel a plain download of the same bytes`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    let operation = DownloadOperation(try DownloadRequest("a"), over: downloader)
    queue.addOperation(operation)
    _ = await held.exchanges.values(count: 1)
    let plain = downloader.start(try DownloadRequest("a"))

    operation.cancel()
    await operation.end()
    #expect(operation.result?.failure == .cancelled && plain.outcome.values.isEmpty)

    await held.resume(first: 1)
    #expect(await plain.outcome.only().body == [1])
    #expect(held.requests.count == 1)
  }

  @Test func `Canceling a plain download does not cancel an operation for the same bytes`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    let plain = downloader.start(try DownloadRequest("a"))
    let operation = DownloadOperation(try DownloadRequest("a"), over: downloader)
    queue.addOperation(operation)
    await operation.hasBegun()
    _ = await held.exchanges.values(count: 1)

    plain.token.cancel()
    #expect(await plain.outcome.only().failure == .cancelled)
    #expect(operation.flags == ["ready", "executing"])

    await held.resume(first: 1)
    await operation.end()
    #expect(operation.result?.body == [1] && held.requests.count == 1)
  }

  // MARK: Release

  /// Keeps its operation, whose closures capture it.
  private final class Owner: Sendable {
    let operation = Mutex<DownloadOperation?>(nil)
    let ends = Recorder<Void>()

    init(_ request: DownloadRequest, over downloader: Downloader) {
      let operation = DownloadOperation(request, over: downloader) { [self] _ in withExtendedLifetime(self) {} }
      operation.completionBlock = { [self] in ends.record(()) }
      self.operation.withLock { $0 = operation }
    }
  }

  @Test(arguments: ["success", "failure", "cancel", "cancel before the start"])
  func `An operation that has ended keeps nothing, even if its closures captured its owner`(end: String) async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + (end == "failure" ? [.fail(.tls)] : .response([1])) }
    weak var releasedOwner: Owner?
    weak var releasedOperation: DownloadOperation?
    weak var releasedDownloader: Downloader?
    do {
      let downloader = Downloader(.prompt, transport: transport)
      let owner = Owner(try DownloadRequest("a"), over: downloader)
      let operation = try #require(owner.operation.withLock { $0 })
      (releasedOwner, releasedOperation, releasedDownloader) = (owner, operation, downloader)
      if end == "cancel before the start" { operation.cancel() }
      queue.addOperation(operation)
      switch end {
      case "success", "failure": await transport.resume(first: 1)
      case "cancel":
        _ = await transport.exchanges.values(count: 1)
        operation.cancel()
      default: break
      }
      _ = await owner.ends.values(count: 1)
      #expect(operation.isFinished)
    }

    await eventually { releasedOwner == nil && releasedOperation == nil && releasedDownloader == nil }
  }

  @Test func `An operation that never starts is released, and so is its downloader`() throws {
    weak var releasedOperation: DownloadOperation?
    weak var releasedDownloader: Downloader?
    do {
      let downloader = Downloader(.prompt, transport: quick)
      let operation = DownloadOperation(try DownloadRequest("a"), over: downloader)
      operation.pause()
      operation.queuePriority = .high
      (releasedOperation, releasedDownloader) = (operation, downloader)
    }

    #expect(releasedOperation == nil && releasedDownloader == nil)
    #expect(quick.requests.isEmpty)
  }
}
