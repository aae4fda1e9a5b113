import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// The order of a downloader's downloads, and the observers of all of them. See also `QueueTests`.
@Suite(.timeLimit(.minutes(10))) struct DownloadQueueTests {
  private let held = ScriptedTransport { _, _ in [.hold] + .response([1]) }
  private let quick = ScriptedTransport { _, _ in .response([1]) }

  @Test func `An urgent download takes the next free connection before those of other hosts`() async throws {
    let transport = WaitingTransport { _, _ in [.hold] + .response([1]) }
    let downloader = Downloader(.prompt.with { $0.concurrency = 1 }, transport: transport)
    _ = downloader.start(try DownloadRequest("first", host: "first.test"))
    _ = await transport.inner.exchanges.values(count: 1)
    let tokens = try ["a", "b", "c"].map { downloader.start(try DownloadRequest($0, host: "\($0).test")).token }
    // Now all of them wait for the only connection, each at the head of its host's queue.
    _ = await transport.waiting.values(count: 4)

    tokens[2].setPriority(.high)
    tokens[0].setPriority(.low)
    await transport.inner.resume(first: 4)
    await downloader.waitUntilFinished()

    #expect(transport.inner.paths == ["first", "c", "b", "a"])
  }

  @Test func `An urgent caller moves a shared download ahead, and back when it leaves`() async throws {
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: held)
    _ = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)
    for name in ["a", "b", "c"] { _ = downloader.start(try DownloadRequest(name)) }

    let urgent = try ["b", "c"].map { downloader.start(try DownloadRequest($0, priority: .high)) }
    urgent[0].token.cancel()
    await held.resume(first: 4)
    await downloader.waitUntilFinished()

    #expect(held.paths == ["first", "c", "a", "b"])
  }

  @Test func `A download canceled while it waits takes no connection`() async throws {
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: held)
    _ = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)

    for index in 0..<100 { downloader.start(try DownloadRequest("canceled\(index)")).token.cancel() }
    let last = downloader.start(try DownloadRequest("last"))
    await held.resume(first: 2)

    #expect(await last.outcome.only().failure == nil)
    #expect(held.paths == ["first", "last"])
  }

  @Test func `A downloader whose downloads were all canceled keeps no host`() async throws {
    let downloader = Downloader(.prompt, transport: held)
    for index in 0..<20 { _ = downloader.start(try DownloadRequest("\(index)", host: "\(index % 3).test")) }
    _ = await held.exchanges.values(count: 1)

    downloader.cancelAll()
    await downloader.waitUntilFinished()

    await eventually { downloader.hostCount == 0 }
  }

  @Test func `An observer gets one start and one finish of each download, however it ends`() async throws {
    let transport = ScriptedTransport { request, number in
      number % 3 == 0 ? [.fail(.tls)] : number % 3 == 1 ? .response([1, 2]) : [.hold] + .response([1])
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

  @Test func `An observer added during a download gets its start before its finish`() async throws {
    let held = ScriptedTransport { _, _ in [.hold] + .response([1]) }
    let downloader = Downloader(.prompt, transport: held)
    _ = downloader.start(try DownloadRequest("x"))
    let exchange = await held.exchanges.values(count: 1)[0]
    let observer = RecordingObserver()
    downloader.addObserver(observer)
    downloader.addObserver(observer)

    exchange.resume()
    await observer.waitForEvents { _, finished in finished == 1 }

    #expect(observer.isBalanced)
    #expect(observer.events.values.first == "started http://a.test/x")
  }

  @Test func `A removed observer gets no events`() async throws {
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
