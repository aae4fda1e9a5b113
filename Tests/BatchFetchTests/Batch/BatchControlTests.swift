import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// Priorities and pauses of whole batches.
@Suite(.timeLimit(.minutes(10))) struct BatchControlTests {
  private let transport = StubTransport()
  private let image = SampleImage.png(width: 8, height: 8)

  private func pipeline(_ change: (inout Downloader.Configuration) -> Void = { _ in }) -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    change(&configuration.downloads)
    return ThumbnailPipeline(configuration, transport: transport)
  }

  private func requests(_ names: [String]) -> [ThumbnailRequest] {
    names.map { ThumbnailRequest(url: "http://a.test/\($0)", size: 8) }
  }

  private func finish(_ transfer: StubTransfer) {
    transfer.respond(length: image.count)
    transfer.send(image)
    transfer.end()
  }

  @Test(arguments: [0, 1]) func `A batch whose priority is raised overtakes another one`(raised: Int) async throws {
    let pipeline = pipeline()
    let token = pipeline.load(requests(["0"])[0]) { _ in }
    let held = try #require(await transport.nextTransfer())
    // All of them wait for the first request, so none has begun when the priority changes.
    let waiting = requests(["1", "2", "3", "4"]).map { request in
      var request = request
      request.after = [token.finished]
      return request
    }
    let first = Batch(Array(waiting[..<2]), over: pipeline).start { _ in }
    let second = Batch(Array(waiting[2...]), over: pipeline).start { _ in }
    raised == 0 ? first.setPriority(.high) : second.setPriority(.high)
    pipeline.downloader.isSuspended = true
    finish(held)
    var missing = Set(waiting.map(\.url))
    for await url in transport.preparations {
      missing.remove(url)
      if missing.isEmpty { break }
    }

    pipeline.downloader.isSuspended = false
    var order: [String] = []
    for _ in 1...4 {
      let transfer = try #require(await transport.nextTransfer())
      order.append(String(transfer.url.suffix(1)))
      finish(transfer)
    }
    for run in [first, second] { await run.group.finished() }

    // Requests of one batch begin in any order.
    #expect(Set(order.prefix(2)) == (raised == 0 ? ["1", "2"] : ["3", "4"]))
  }

  @Test func `A paused batch sends no request, and all of them once it is resumed`() async throws {
    let pipeline = pipeline()
    let transport = transport
    let ends = Recorder<Int>()
    let run = Batch(requests(["0", "1", "2"]), over: pipeline, window: 1).start { ends.record($0.finished) }
    let first = try #require(await transport.nextTransfer())
    run.pause()
    // The transfer of a caller that has paused is closed.
    await first.isCanceled()
    #expect(ends.values.isEmpty && transport.requests.count == 1)

    run.resume()
    for _ in 1...3 { finish(try #require(await transport.nextTransfer())) }
    await run.group.finished()

    #expect(ends.values == [1, 2, 3])
  }

  @Test func `An element that begins while its batch is paused sends no request before it is resumed`() async throws {
    let clock = ManualClock()
    let pipeline = pipeline { $0.clock = clock }
    var requests = requests(["0", "1"])
    requests[0].timeout = .seconds(60)
    let (begun, ends) = (Recorder<String>(), Recorder<FailureCode?>())
    let run = Batch(requests, over: pipeline, window: 1).start { item in
      ends.record(item.outcome.failure?.code)
    } begin: {
      begun.record($0.url)
    }
    let first = try #require(await transport.nextTransfer())
    run.pause()
    await first.isCanceled()

    // The first one ends, and frees its place in the window.
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    #expect(await begun.values(count: 2) == requests.map(\.url))
    #expect(await ends.values(count: 1) == [.timeoutTotal])
    await eventually { pipeline.runningCount == 1 }
    // A later request that is not paused takes the same way, and is the next one that is sent.
    pipeline.load(self.requests(["other"])[0]) { _ in }
    let other = try #require(await transport.nextTransfer())
    #expect(other.url.hasSuffix("other"))
    finish(other)

    run.resume()
    let second = try #require(await transport.nextTransfer())
    #expect(second.url == requests[1].url)
    finish(second)
    await run.group.finished()
    #expect(ends.values == [.timeoutTotal, nil])
  }
}
