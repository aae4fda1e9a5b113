import DownloadSupport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Downloads

/// The download operation: progress, the end, a failure, a cancel, pause and resume.
@Suite(.timeLimit(.minutes(20))) struct DownloadOperationTests {
  private let held = ScriptedTransport { _, _ in [.hold] + .response([1]) }
  private let quick = ScriptedTransport { _, _ in .response([1]) }
  private let queue = OperationQueue()

  // MARK: Progress and the end

  @Test func `An operation reports progress, then its result, and then finishes`() async throws {
    let transport = ScriptedTransport { _, _ in
      [.head(200, [.contentLength: "10"]), .bytes([1, 2, 3]), .hold, .bytes([4, 5, 6, 7, 8, 9, 0]), .end]
    }
    let reports = Recorder<DownloadProgress>()
    let operation = DownloadOperation(try DownloadRequest("a"), over: Downloader(.prompt, transport: transport)) {
      reports.record($0)
    }
    #expect(operation.name == "http://a.test/a" && operation.progress == nil && transport.requests.isEmpty)

    queue.addOperation(operation)
    _ = await reports.values(count: 1)
    #expect(operation.progress == DownloadProgress(attempt: 1, received: 3, total: 10))
    #expect(operation.result == nil && operation.flags == ["ready", "executing"])

    await transport.resume(first: 1)
    await operation.end()
    #expect(operation.result?.body == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0] && operation.flags == ["ready", "finished"])
    #expect(operation.progress == DownloadProgress(attempt: 1, received: 10, total: 10))
    #expect(reports.values.map(\.received) == [3, 10] && transport.requests.count == 1)
  }

  @Test func `A failed operation finishes with the failure, and its dependents run`() async throws {
    let transport = ScriptedTransport { _, _ in [.fail(.tls)] }
    let downloader = Downloader(.prompt, transport: transport)
    let failing = DownloadOperation(try DownloadRequest("a"), over: downloader)
    let refused = DownloadOperation(DownloadRequest(source: try SourceURL("file:///a")), over: downloader)

    queue.add([failing, refused])
    await failing.end()
    await refused.end()

    #expect(failing.result?.failure?.code == .tls && refused.result?.failure?.code == .blockedScheme)
    #expect(failing.flags == ["ready", "finished"] && transport.requests.count == 1)
  }

  @Test func `The completion block sees the result, and runs once`() async throws {
    let operation = DownloadOperation(try DownloadRequest("a"), over: Downloader(.prompt, transport: quick))
    let results = Recorder<[UInt8]?>()
    operation.completionBlock = { [unowned operation] in results.record(operation.result?.body) }

    queue.addOperation(operation)

    #expect(await results.values(count: 1) == [[1]])
    await operation.end()
    #expect(results.values.count == 1)
  }

  // MARK: Cancel

  @Test func `An operation canceled before its queue starts it sends no request`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    let names = ["first", "early", "queued"]
    let operations = try names.map { DownloadOperation(try DownloadRequest($0), over: downloader) }
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

  @Test func `Canceling an operation during its transfer ends the transfer`() async throws {
    let downloader = Downloader(.serial, transport: held)
    let operation = DownloadOperation(try DownloadRequest("a"), over: downloader)
    queue.addOperation(operation)
    _ = await held.exchanges.values(count: 1)

    operation.cancel()
    await operation.end()
    #expect(operation.result?.failure == .cancelled && operation.flags == ["ready", "finished", "cancelled"])

    // There is one transfer at a time: without the cancellation, this one would wait forever.
    let other = downloader.start(try DownloadRequest("other"))
    await held.exchanges.values(count: 2)[1].resume()
    #expect(await other.outcome.only().body == [1])
  }

  @Test func `Canceling everything in the downloader finishes its operations, which are not canceled themselves`()
    async throws
  {
    let downloader = Downloader(.prompt, transport: held)
    let operation = DownloadOperation(try DownloadRequest("a"), over: downloader)
    queue.addOperation(operation)
    _ = await held.exchanges.values(count: 1)

    downloader.cancelAll()
    await operation.end()

    #expect(operation.result?.failure == .cancelled && operation.flags == ["ready", "finished"])
  }

  @Test func `Canceling all operations of a queue empties it`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    let operations = try (0..<20).map { DownloadOperation(try DownloadRequest("\($0)"), over: downloader) }
    let queue = OperationQueue(width: 3)
    queue.add(operations)
    _ = await held.exchanges.values(count: 3)

    // Suspended, or the queue would start an operation in the place of a canceled one before it cancels that one too.
    queue.isSuspended = true
    queue.cancelAllOperations()
    queue.isSuspended = false
    for operation in operations { await operation.end() }
    await queue.becomesEmpty()

    #expect(operations.allSatisfy { $0.result?.failure == .cancelled })
    // If the queue's thread is still beginning a request, it ends the operation, and then leaves the downloader.
    await eventually { downloader.runningCount == 0 }
    #expect(held.requests.count == 3)
  }

  // MARK: Pause

  private let whole: [UInt8] = Array(0..<100)

  @Test func `A paused operation keeps its place in its queue and frees its transfer, and continues where it stopped`()
    async throws
  {
    let transport = ScriptedTransport.halving(whole)
    let downloader = Downloader(.serial, transport: transport)
    let reports = Recorder<DownloadProgress>()
    let operation = DownloadOperation(try DownloadRequest("a"), over: downloader) { reports.record($0) }
    queue.addOperation(operation)
    _ = await reports.values(count: 1)

    operation.pause()
    let other = downloader.start(try DownloadRequest("other"))
    await transport.exchanges.values(count: 2)[1].resume()
    #expect(await other.outcome.only().body == whole)
    #expect(operation.flags == ["ready", "executing"] && operation.result == nil && queue.operationCount == 1)

    operation.resume()
    await transport.exchanges.values(count: 3)[2].resume()
    await operation.end()
    #expect(operation.result?.body == whole && transport.paths == ["a", "other", "a"])
    #expect(transport.requests[2].headerFields[.range] == "bytes=50-")
    #expect(transport.requests[2].headerFields[.ifRange] == "\"1\"")
  }

  @Test func `Operations paused before they start send no request until they are resumed`() async throws {
    let isResumed = Gate()
    let transport = ScriptedTransport { request, _ in
      (isResumed.isOpen || request.source.lastPathComponent == "other" ? [] : [.hold]) + .response([1])
    }
    let downloader = Downloader(.prompt.with { $0.concurrency = 1000 }, transport: transport)
    let operations = try (0..<200).map {
      DownloadOperation(try DownloadRequest("paused", host: "\($0).test"), over: downloader)
    }
    for operation in operations { operation.pause() }
    queue.add(operations)
    for operation in operations { await operation.hasBegun() }
    await eventually { downloader.pausedCount == operations.count }

    let other = downloader.start(try DownloadRequest("other"))
    #expect(await other.outcome.only().body == [1])
    #expect(transport.paths == ["other"])
    #expect(operations.allSatisfy { $0.flags == ["ready", "executing"] })

    isResumed.open()
    for operation in operations { operation.resume() }
    for operation in operations {
      await operation.end()
      #expect(operation.result?.body == [1])
    }
  }

  @Test func `An operation resumed before it starts downloads at once`() async throws {
    let operation = DownloadOperation(try DownloadRequest("a"), over: Downloader(.prompt, transport: quick))

    operation.pause()
    operation.resume()
    queue.addOperation(operation)
    await operation.end()

    #expect(operation.result?.body == [1])
  }

  @Test func `A resume that races the start of a paused operation is not lost`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let operations = try (0..<300).map { DownloadOperation(try DownloadRequest("\($0)"), over: downloader) }
    for operation in operations { operation.pause() }

    await race(operations.count) {
      operations[$0].start()
    } against: {
      operations[$0].resume()
    }

    for operation in operations {
      await operation.end()
      #expect(operation.result?.body == [1])
    }
  }

  @Test func `A paused operation can be canceled`() async throws {
    let operation = DownloadOperation(try DownloadRequest("a"), over: Downloader(.prompt, transport: quick))
    operation.pause()
    queue.addOperation(operation)
    await operation.hasBegun()

    operation.cancel()
    await operation.end()

    #expect(operation.result?.failure == .cancelled && quick.requests.isEmpty)
  }
}

extension FetchOperation {
  /// True while the operation controls a request that it has begun.
  var hasHandle: Bool { slot.state.withLock { $0.handle != nil } }

  /// Returns when the operation has begun its request, which must not end before.
  func hasBegun() async { await eventually { hasHandle } }
}

extension Downloader {
  /// The number of downloads that are paused.
  fileprivate var pausedCount: Int {
    let jobs = context.state.withLock { $0.jobs.jobs }
    return jobs.count(where: { $0.state.withLock { $0.machine.phase == .paused } })
  }
}
