import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

/// All downloads of a downloader together: suspended, cancelled, waited for, observed, and in their order.
@Suite(.timeLimit(.minutes(10))) struct DownloadQueueTests {
  private let held = ScriptedTransport { _, _ in [.hold] + .answer([1]) }
  private let quick = ScriptedTransport { _, _ in .answer([1]) }

  @Test func `A suspended downloader starts nothing; resumed, it starts up to its limit`() async throws {
    let downloader = Downloader(.prompt.with { $0.concurrency = 3 }, transport: held)
    downloader.isSuspended = true
    let outcomes = try (0..<10).map { downloader.start(try DownloadRequest("\($0)")).outcome }
    // What another one asks for takes as long as these would have taken.
    let other = Downloader(.prompt, transport: held).start(try DownloadRequest("other")).outcome
    await held.exchanges.values(count: 1)[0].resume()
    _ = await other.only()
    #expect(held.requests.count == 1)
    downloader.isSuspended = false
    var next = 1
    while next < 11 {
      let exchanges = await held.exchanges.values(count: next + 1)
      for exchange in exchanges[next...] { exchange.resume() }
      next = exchanges.count
    }
    for outcome in outcomes { #expect(await outcome.only().failure == nil) }
    #expect(held.load.peak <= 3)
  }

  @Test func `Cancelled all at once, everyone is told, and nothing is left`() async throws {
    let later = Gate()
    let transport = ScriptedTransport { _, _ in (later.isOpen ? [] : [.hold]) + .answer([1]) }
    let downloader = Downloader(.prompt.with { $0.concurrency = 3 }, transport: transport)
    let outcomes = try (0..<20).map { downloader.start(try DownloadRequest("\($0 % 10)")).outcome }
    _ = await transport.exchanges.values(count: 3)
    // One that waits may take the place of one that was cancelled, to be cancelled in its turn.
    downloader.cancelAll()
    later.open()
    for outcome in outcomes { #expect(await outcome.only().failure == .cancelled) }
    #expect(downloader.runningCount == 0)
    let again = downloader.start(try DownloadRequest("0"))
    #expect(await again.outcome.only().failure == nil)
    await downloader.waitUntilFinished()
    await eventually { downloader.hostCount == 0 }
  }

  @Test func `Waiting for the end means that every completion has returned`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    await downloader.waitUntilFinished()
    let count = Counter()
    for index in 0..<200 {
      downloader.download(try DownloadRequest("\(index)")) { _ in
        // What a completion asks for is waited for too.
        if index % 2 == 0, let more = try? DownloadRequest("more\(index)") {
          downloader.download(more) { _ in count.next() }
        }
        count.next()
      }
    }
    await downloader.waitUntilFinished()
    #expect(count.value == 300)
  }

  @Test func `Those that wait start in the order they came, and urgent ones first`() async throws {
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: held)
    let first = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)
    let tokens = try ["a", "b", "c", "d"].map { downloader.start(try DownloadRequest($0)).token }
    tokens[2].setPriority(.high)
    tokens[0].setPriority(.low)
    for index in 0..<5 { await held.exchanges.values(count: index + 1)[index].resume() }
    await downloader.waitUntilFinished()
    #expect(first.outcome.values.count == 1)
    #expect(held.requests.compactMap { $0.source.description.last } == ["t", "c", "b", "d", "a"])
  }

  @Test func `Between hosts too, the urgent one takes the next free place`() async throws {
    let downloader = Downloader(.prompt.with { $0.concurrency = 1 }, transport: held)
    _ = downloader.start(try DownloadRequest("first", host: "first.test"))
    _ = await held.exchanges.values(count: 1)
    let tokens = try ["a", "b", "c"].map { downloader.start(try DownloadRequest($0, host: "\($0).test")).token }
    // All of them wait for the one place by now, each at the head of its own host's queue.
    await eventually { downloader.context.transfers.operationCount == 4 }
    tokens[2].setPriority(.high)
    tokens[0].setPriority(.low)
    for index in 0..<4 { await held.exchanges.values(count: index + 1)[index].resume() }
    await downloader.waitUntilFinished()
    #expect(held.requests.compactMap { $0.source.description.last } == ["t", "c", "b", "a"])
  }

  @Test func `A second caller that is more urgent moves the download ahead, and back when it leaves`() async throws {
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: held)
    _ = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)
    for name in ["a", "b", "c"] { _ = downloader.start(try DownloadRequest(name)) }
    let urgent = try ["b", "c"].map { name in
      var request = try DownloadRequest(name)
      request.priority = .high
      return downloader.start(request)
    }
    urgent[0].token.cancel()
    for index in 0..<4 { await held.exchanges.values(count: index + 1)[index].resume() }
    await downloader.waitUntilFinished()
    #expect(held.requests.compactMap { $0.source.description.last } == ["t", "c", "a", "b"])
  }

  @Test func `A download cancelled while it waits takes no place`() async throws {
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: held)
    _ = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)
    for index in 0..<100 { downloader.start(try DownloadRequest("cancelled\(index)")).token.cancel() }
    let last = downloader.start(try DownloadRequest("last"))
    for index in 0..<2 { await held.exchanges.values(count: index + 1)[index].resume() }
    #expect(await last.outcome.only().failure == nil)
    #expect(held.requests.count == 2)
  }

  @Test func `An observer hears one start and one finish of each download, whatever happens to it`() async throws {
    let transport = ScriptedTransport { request, number in
      number % 3 == 0 ? [.fail(.tls)] : number % 3 == 1 ? .answer([1, 2]) : [.hold] + .answer([1])
    }
    let downloader = Downloader(.prompt, transport: transport)
    let observer = RecordingObserver()
    downloader.addObserver(observer)
    for index in 0..<300 {
      let (token, _) = downloader.start(try DownloadRequest("\(index / 2)", host: "\(index % 5).test"))
      if index % 7 == 0 { token.cancel() }
      if index % 11 == 0 { token.pause() }
    }
    downloader.cancelAll()
    await downloader.waitUntilFinished()
    await observer.waitForEvents { started, finished in started > 0 && started == finished }
    #expect(observer.isBalanced)
  }

  @Test func `An observer hears of progress, as long as it lives`() async throws {
    let transport = ScriptedTransport { _, _ in [.head(200, [:]), .bytes([1]), .hold, .bytes([2]), .end] }
    let downloader = Downloader(.prompt, transport: transport)
    var observer: RecordingObserver? = RecordingObserver()
    weak let watched = observer
    downloader.addObserver(try #require(observer))
    let download = downloader.start(try DownloadRequest("x"))
    _ = await observer?.events.values(count: 2)
    #expect(observer?.events.values == ["started http://a.test/x", "http://a.test/x: 1"])
    observer = nil
    #expect(watched == nil)
    transport.exchanges.values[0].resume()
    #expect(await download.outcome.only().failure == nil)
  }

  @Test func `An observer that was removed hears no more`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let (removed, staying) = (RecordingObserver(), RecordingObserver())
    downloader.addObserver(removed)
    downloader.addObserver(staying)
    downloader.removeObserver(removed)
    _ = downloader.start(try DownloadRequest("x"))
    await staying.waitForEvents { _, finished in finished == 1 }
    #expect(removed.events.values.isEmpty)
  }
}

/// Writes down what it hears.
private final class RecordingObserver: DownloadObserver {
  let events = Recorder<String>()
  private let running = Mutex<(started: Int, finished: Int, open: Set<String>, isBalanced: Bool)>((0, 0, [], true))

  /// Whether each download had a start, and then a finish.
  var isBalanced: Bool { running.withLock { $0.isBalanced && $0.open.isEmpty } }

  func waitForEvents(_ isEnough: (_ started: Int, _ finished: Int) -> Bool) async {
    var count = 0
    while !running.withLock({ isEnough($0.started, $0.finished) }) {
      count = await events.values(count: count + 1).count
    }
  }

  func downloadDidStart(_ source: SourceURL) {
    running.withLock { running in
      running.started += 1
      running.isBalanced = running.isBalanced && running.open.insert(source.description).inserted
    }
    events.record("started \(source)")
  }

  func download(_ source: SourceURL, didProgress progress: DownloadProgress) {
    events.record("\(source): \(progress.received)")
  }

  func downloadDidFinish(_ source: SourceURL, _ result: Outcome) {
    running.withLock { running in
      running.finished += 1
      running.isBalanced = running.isBalanced && running.open.remove(source.description) != nil
    }
    events.record("finished \(source)")
  }
}
