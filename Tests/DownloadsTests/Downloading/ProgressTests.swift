import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// The progress that a caller of a downloader gets.
@Suite(.timeLimit(.minutes(10))) struct ProgressTests {
  private enum Event: Equatable {
    case progress(Int, of: Int?)
    case end(FailureCode?)
  }

  /// Downloads `request` and records all calls of its closures.
  private func listen(
    to downloader: Downloader, _ request: DownloadRequest
  ) -> (token: DownloadToken, events: Recorder<Event>) {
    let events = Recorder<Event>()
    let token = downloader.download(request) {
      events.record(.progress($0.received, of: $0.total))
    } completion: {
      events.record(.end($0.failure?.code))
    }
    return (token, events)
  }

  @Test func `A caller gets progress of the bytes, then of the whole body, then the end`() async throws {
    let transport = ScriptedTransport { _, _ in
      [.head(200, [.contentLength: "10"]), .bytes([1, 2, 3]), .hold, .bytes([4, 5, 6, 7, 8, 9, 0]), .end]
    }
    let (_, events) = listen(to: Downloader(.prompt, transport: transport), try DownloadRequest("x"))

    _ = await events.values(count: 1)
    transport.exchanges.values[0].resume()

    #expect(await events.values(count: 3) == [.progress(3, of: 10), .progress(10, of: 10), .end(nil)])
  }

  @Test func `A caller that joins late gets the current progress at once`() async throws {
    let transport = ScriptedTransport { _, _ in
      [.head(200, [.contentLength: "10"]), .bytes([1, 2, 3]), .hold, .bytes([4, 5, 6, 7, 8, 9, 0]), .end]
    }
    let downloader = Downloader(.patient, transport: transport)
    let first = listen(to: downloader, try DownloadRequest("x"))

    _ = await first.events.values(count: 1)
    let second = listen(to: downloader, try DownloadRequest("x"))
    #expect(await second.events.values(count: 1) == [.progress(3, of: 10)])

    transport.exchanges.values[0].resume()
    #expect(await second.events.values(count: 3) == [.progress(3, of: 10), .progress(10, of: 10), .end(nil)])
  }

  @Test func `Reports are an interval apart by the injected clock, except for the last one`()
    async throws
  {
    let clock = ManualClock()
    let transport = ScriptedTransport { _, _ in
      [
        .head(200, [.contentLength: "6"]), .bytes([1]), .bytes([2]), .hold, .bytes([3]), .bytes([4]), .hold,
        .bytes([5]), .bytes([6]), .end,
      ]
    }
    let configuration = Downloader.Configuration.prompt.with {
      $0.clock = clock
      $0.progressInterval = .milliseconds(100)
    }
    let (_, events) = listen(to: Downloader(configuration, transport: transport), try DownloadRequest("x"))
    #expect(await events.values(count: 1) == [.progress(1, of: 6)])

    // Otherwise, the second byte could arrive after the interval and be reported.
    await transport.exchanges.values[0].played()
    clock.advance(by: .milliseconds(100))
    transport.exchanges.values[0].resume()
    #expect(await events.values(count: 2).last == .progress(3, of: 6))

    transport.exchanges.values[0].resume()
    #expect(await events.values(count: 4).suffix(2) == [.progress(6, of: 6), .end(nil)])
    #expect(events.values.count == 4)
  }

  @Test func `Bytes of an earlier attempt count only if the next one continues them`() async throws {
    let whole: [UInt8] = Array(0..<10)
    for (tag, expected) in [("\"1\"", [4, 6, 10]), ("W/\"1\"", [4, 2, 10])] {
      let transport = ScriptedTransport { request, number in
        let first = request.firstByte ?? 0
        let head: ScriptedTransport.Step =
          first == 0
          ? .head(200, [.eTag: tag, .contentLength: "10"]) : .head(206, [.contentRange: "bytes \(first)-9/10"])
        let next = number == 1 ? 4 : first + 2
        return [head, .bytes(Array(whole[first..<next])), .hold]
          + (number == 1 ? [.fail(.connectionLost)] : [.bytes(Array(whole[next...])), .end])
      }
      let (_, events) = listen(to: Downloader(.prompt, transport: transport), try DownloadRequest("x"))
      for exchange in 1...2 {
        _ = await events.values(count: exchange)
        transport.exchanges.values[exchange - 1].resume()
      }
      #expect(await events.values(count: 4) == expected.map { .progress($0, of: 10) } + [.end(nil)])
    }
  }

  @Test func `A failure or a cancel ends the reports`() async throws {
    let transport = ScriptedTransport { request, _ in
      [.head(200, [:]), .bytes([1]), .hold] + (request.source.description.hasSuffix("x") ? [.fail(.tls)] : [])
    }
    let downloader = Downloader(.prompt, transport: transport)
    let failing = listen(to: downloader, try DownloadRequest("x"))
    let canceled = listen(to: downloader, try DownloadRequest("y"))

    _ = await (failing.events.values(count: 1), canceled.events.values(count: 1))
    canceled.token.cancel()
    for exchange in transport.exchanges.values { exchange.resume() }

    #expect(await failing.events.values(count: 2) == [.progress(1, of: nil), .end(.tls)])
    #expect(await canceled.events.values(count: 2) == [.progress(1, of: nil), .end(.cancelled)])
  }

  @Test func `A slow handler gets the newest progress, in order`() async throws {
    let gate = Gate()
    let transport = ScriptedTransport { _, _ in
      [.head(200, [.contentLength: "100"])] + (0..<100).map { .bytes([UInt8($0)]) } + [.end]
    }
    let events = Recorder<Event>()

    Downloader(.prompt, transport: transport).download(try DownloadRequest("x")) {
      events.record(.progress($0.received, of: $0.total))
      gate.wait()
    } completion: {
      events.record(.end($0.failure?.code))
    }
    _ = await events.values(count: 1)
    gate.open()
    while events.values.last != .end(nil) { _ = await events.values(count: events.values.count + 1) }
    let received = events.values.compactMap { if case .progress(let count, _) = $0 { count } else { nil } }

    #expect(received == received.sorted() && Set(received).count == received.count)
    #expect(received.last == 100 && events.values.last == .end(nil))
  }
}
