import DownloadSupport
import Downloads
import Foundation
import Synchronization
import TestSupport
import Testing

/// The queue: its limit, suspension, canceling everything, waiting, priorities, dependencies and completion blocks. A
/// downloader offers most of it. The rest is tested on Foundation's `OperationQueue`, on which the library is built.
@Suite(.timeLimit(.minutes(20))) struct QueueTests {
  private let held = ScriptedTransport { _, _ in [.hold] + .response([1]) }
  private let quick = ScriptedTransport { _, _ in .response([1]) }

  /// Runs a download from its start to its end, which takes longer than the start of another one.
  private func letTimePass() async throws {
    _ = try await Downloader(.prompt, transport: quick).download(DownloadRequest("other"))
  }

  @Test func `A limit changed at run time applies to the operations that start next`() async {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let (gates, loads) = ((0..<6).map { _ in Gate() }, Recorder<Int>())
    let load = Mutex(0)
    for gate in gates {
      queue.addOperation {
        load.withLock { load in
          load += 1
          loads.record(load)
        }
        gate.wait()
        load.withLock { $0 -= 1 }
      }
    }

    _ = await loads.values(count: 1)
    gates[0].open()
    #expect(await loads.values(count: 2) == [1, 1])

    queue.maxConcurrentOperationCount = 3
    #expect(await loads.values(count: 4) == [1, 1, 2, 3])

    queue.maxConcurrentOperationCount = 1
    for gate in gates[1...] { gate.open() }
    #expect(await loads.values(count: 6) == [1, 1, 2, 3, 1, 1])
    withExtendedLifetime(queue) {}
  }

  @Test func `A suspended downloader starts nothing, and a resumed one starts up to its limit`() async throws {
    let downloader = Downloader(.prompt.with { $0.concurrency = 3 }, transport: held)
    downloader.isSuspended = true
    let outcomes = try (0..<10).map { downloader.start(try DownloadRequest("\($0)")).outcome }
    try await letTimePass()
    #expect(held.requests.isEmpty)

    downloader.isSuspended = false
    _ = await held.exchanges.values(count: 3)
    await held.resume(first: 10)

    for outcome in outcomes { #expect(await outcome.only().failure == nil) }
    #expect(held.load.peak == 3)
  }

  @Test func `Canceling everything ends each download once and leaves nothing behind`() async throws {
    let later = Gate()
    let transport = ScriptedTransport { _, _ in (later.isOpen ? [] : [.hold]) + .response([1]) }
    let downloader = Downloader(.prompt.with { $0.concurrency = 3 }, transport: transport)
    let outcomes = try (0..<20).map { downloader.start(try DownloadRequest("\($0 % 10)")).outcome }
    _ = await transport.exchanges.values(count: 3)

    // A download that waits may take the place of a canceled one, until it is canceled in its turn.
    downloader.cancelAll()
    later.open()

    for outcome in outcomes { #expect(await outcome.only().failure == .cancelled) }
    #expect(downloader.runningCount == 0)
    let again = downloader.start(try DownloadRequest("0"))
    #expect(await again.outcome.only().failure == nil)
    await downloader.waitUntilFinished()
    #expect(outcomes.allSatisfy { $0.values.count == 1 })
  }

  @Test func `A blocking wait and an asynchronous one end after the last completion has returned`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let (isInside, gate, events) = (Recorder<Void>(), Gate(), Recorder<String>())
    downloader.download(try DownloadRequest("a")) { _ in
      isInside.record(())
      gate.wait()
      events.record("completion")
    }
    _ = await isInside.values(count: 1)

    downloader.group.waitOnThread { events.record("blocking wait") }
    async let asynchronous: Void = downloader.waitUntilFinished()
    try await letTimePass()
    #expect(!downloader.group.isEmpty && events.values.isEmpty)

    gate.open()
    await asynchronous
    #expect(events.values.first == "completion")
    #expect(await events.values(count: 2) == ["completion", "blocking wait"])
  }

  @Test func `Waiting for a downloader includes the downloads that its completions start`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    await downloader.waitUntilFinished()
    let count = Counter()
    for index in 0..<200 {
      downloader.download(try DownloadRequest("\(index)")) { _ in
        if index % 2 == 0, let more = try? DownloadRequest("more\(index)") {
          downloader.download(more) { _ in count.next() }
        }
        count.next()
      }
    }

    await downloader.waitUntilFinished()

    #expect(count.value == 300)
  }

  @Test func `Downloads start by priority, and in the order of their requests if it is equal`() async throws {
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: held)
    let first = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)
    let tokens = try ["a", "b", "c", "d"].map { downloader.start(try DownloadRequest($0)).token }

    tokens[2].setPriority(.high)
    tokens[0].setPriority(.low)
    await held.resume(first: 5)
    await downloader.waitUntilFinished()

    #expect(first.outcome.values.count == 1)
    #expect(held.paths == ["first", "c", "b", "d", "a"])
  }

  @Test func `An operation waits for one in another queue, and its completion block runs once after it`() async {
    let queues = (0..<2).map { _ in OperationQueue() }
    for queue in queues { queue.maxConcurrentOperationCount = 1 }
    let (gate, events) = (Gate(), Recorder<String>())
    let config = BlockOperation {
      gate.wait()
      events.record("config")
    }
    let package = BlockOperation { events.record("package") }
    package.completionBlock = { events.record("completion of package") }
    package.addDependency(config)

    queues[0].addOperation(config)
    queues[1].addOperation(package)
    // The last in a queue of one at a time: it can run first only because `package` is not ready.
    queues[1].addOperation { events.record("other") }
    #expect(await events.values(count: 1) == ["other"])

    gate.open()
    #expect(await events.values(count: 4) == ["other", "config", "package", "completion of package"])
    queues[1].addOperation { events.record("last") }
    #expect(await events.values(count: 5).last == "last")
  }
}
