import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(10))) struct PauseTests {
  private let whole: [UInt8] = Array(0..<100)

  /// A downloader with one transfer per host, and a download that has half of its bytes.
  private func half(
    _ transport: ScriptedTransport
  ) async throws -> (downloader: Downloader, token: DownloadToken, outcome: Recorder<Outcome>) {
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: transport)
    let progress = Recorder<DownloadProgress>()
    let (token, outcome) = downloader.start(try DownloadRequest("x")) { progress.record($0) }
    _ = await progress.values(count: 1)
    return (downloader, token, outcome)
  }

  /// Lets the exchange with this number, from 1, run to its end.
  private func finish(_ transport: ScriptedTransport, _ exchange: Int) async {
    await transport.exchanges.values(count: exchange)[exchange - 1].resume()
  }

  @Test func `A paused download leaves its place to others, and a resumed one continues where it was`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let (downloader, token, outcome) = try await half(transport)

    token.pause()
    let other = downloader.start(try DownloadRequest("other"))
    await finish(transport, 2)
    #expect(await other.outcome.only().body == whole)
    #expect(outcome.values.isEmpty && downloader.runningCount == 1)

    token.resume()
    await finish(transport, 3)
    #expect(await outcome.only().body == whole)
    #expect(transport.requests[2].headerFields[.range] == "bytes=50-")
    #expect(try outcome.values[0].get().attempts == 1)
    #expect(downloader.runningCount == 0)

    await eventually { downloader.hostCount == 0 }
  }

  @Test func `A download can be paused any number of times`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let (downloader, token, outcome) = try await half(transport)
    let progress = Recorder<DownloadProgress>()
    let watcher = downloader.start(try DownloadRequest("x")) { progress.record($0) }

    for (count, received) in [(1, 50), (2, 75), (3, 87)] {
      #expect(await progress.values(count: count)[count - 1].received == received)
      token.pause()
      watcher.token.pause()
      token.resume()
    }
    _ = await progress.values(count: 4)
    await finish(transport, 4)

    #expect(await outcome.only().body == whole)
    #expect(transport.requests.map { $0.headerFields[.range] } == [nil, "bytes=50-", "bytes=75-", "bytes=87-"])
  }

  @Test func `Progress only grows in a resumed download that starts over`() async throws {
    // Without a validator, the second transfer begins with the first byte.
    let transport = ScriptedTransport { [whole] _, number in
      let head = ScriptedTransport.Step.head(200, [.contentLength: "100"])
      if number == 1 { return [head, .bytes(Array(whole[..<50])), .hold] }
      return [head, .bytes(Array(whole[..<20])), .bytes(Array(whole[20..<60])), .bytes(Array(whole[60...])), .end]
    }
    let downloader = Downloader(.prompt, transport: transport)
    let progress = Recorder<DownloadProgress>()
    let (token, outcome) = downloader.start(try DownloadRequest("x")) { progress.record($0) }
    _ = await progress.values(count: 1)

    token.pause()
    token.resume()
    #expect(await outcome.only().body == whole)

    let received = progress.values.map(\.received)
    #expect(received == received.sorted() && received.first == 50 && received.last == 100)
    #expect(progress.values.allSatisfy { $0.attempt == 1 })
    #expect(try outcome.values[0].get().attempts == 1 && transport.requests.count == 2)
  }

  @Test func `A download goes on while one of its callers has not paused`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let (downloader, token, outcome) = try await half(transport)
    let other = downloader.start(try DownloadRequest("x"))

    token.pause()
    await finish(transport, 1)

    #expect(await outcome.only().body == whole)
    #expect(await other.outcome.only().body == whole)
    #expect(transport.requests.count == 1)
  }

  @Test func `A download stops when its last unpaused caller leaves, and goes on when another joins`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let (downloader, token, outcome) = try await half(transport)
    let other = downloader.start(try DownloadRequest("x"))

    token.pause()
    other.token.cancel()
    #expect(await other.outcome.only().failure == .cancelled)

    let third = downloader.start(try DownloadRequest("x"))
    await finish(transport, 2)
    #expect(await third.outcome.only().body == whole)
    #expect(await outcome.only().body == whole)
    #expect(transport.requests.last?.headerFields[.range] == "bytes=50-")
  }

  @Test func `A download paused before its turn leaves the queue and rejoins it at the end`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let (downloader, _, outcome) = try await half(transport)
    let second = downloader.start(try DownloadRequest("second"))
    let third = downloader.start(try DownloadRequest("third"))

    second.token.pause()
    await finish(transport, 1)
    _ = await outcome.only()
    await finish(transport, 2)
    #expect(await third.outcome.only().body == whole)
    #expect(second.outcome.values.isEmpty)

    second.token.resume()
    await finish(transport, 3)
    #expect(await second.outcome.only().body == whole)
    #expect(transport.requests.map(\.source.description).last == "http://a.test/second")
  }

  @Test func `A paused download can be canceled, alone or with all others`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let (downloader, token, outcome) = try await half(transport)
    let second = downloader.start(try DownloadRequest("second"))

    token.pause()
    second.token.pause()
    token.cancel()
    #expect(await outcome.only().failure == .cancelled)

    downloader.cancelAll()
    #expect(await second.outcome.only().failure == .cancelled)
    #expect(downloader.runningCount == 0)
  }

  @Test func `A paused download whose last token is released ends as canceled`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let outcome = try await {
      let (_, token, outcome) = try await half(transport)
      token.pause()
      return outcome
    }()

    #expect(await outcome.only().failure == .cancelled)
  }

  @Test func `A download that waits for a paused one does not keep the downloader alive`() async throws {
    let transport = ScriptedTransport.halving(whole)
    let (paused, waiting) = try await {
      let (downloader, token, outcome) = try await half(transport)
      token.pause()
      let dependent = Recorder<Outcome>()
      downloader.download(after: [token]) { outcomes throws(FetchFailure) in
        _ = try outcomes[0].get()
        return DownloadRequest(source: try SourceURL("http://a.test/late"))
      } completion: {
        dependent.record($0)
      }
      return (outcome, dependent)
    }()

    #expect(await paused.only().failure == .cancelled)
    #expect(await waiting.only().failure == .cancelled)
  }

  @Test func `A download can be paused between two attempts`() async throws {
    let clock = ManualClock()
    let transport = ScriptedTransport { _, number in number == 1 ? [.fail(.connectFailed)] : .response([1]) }
    let configuration = Downloader.Configuration.prompt.with {
      $0.clock = clock
      $0.retry.base = .seconds(1000)
      $0.retry.cap = .seconds(1000)
    }
    let downloader = Downloader(configuration, transport: transport)
    let (token, outcome) = downloader.start(try DownloadRequest("x"))

    await clock.waitForSleepers(1)
    token.pause()
    token.resume()

    #expect(await outcome.only().body == [1])
    #expect(try outcome.values[0].get().attempts == 2)
  }

  @Test func `A pause closes a real connection, and resuming requests the rest`() async throws {
    let server = try LoopbackServer { [whole] request in
      if request.fields["range"] == nil {
        let head = ServerReply.head(200, ["Content-Length": "100", "ETag": "\"1\""])
        return ServerReply([.send(head + whole[..<40])])
      }
      return .http(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"1\""], Array(whole[40...]))
    }
    let downloader = Downloader(.prompt)
    let progress = Recorder<DownloadProgress>()
    let (token, outcome) = downloader.start(DownloadRequest(source: try SourceURL(server.url("/x")))) {
      progress.record($0)
    }
    #expect(await progress.values(count: 1).last == DownloadProgress(attempt: 1, received: 40, total: 100))

    token.pause()
    token.resume()
    #expect(await outcome.only().body == whole)
    #expect(server.requests.last?.fields["range"] == "bytes=40-")
  }
}
