import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// Downloads that wait for others: a package for its configuration file.
@Suite(.timeLimit(.minutes(10))) struct DependencyTests {
  /// Answers every request with its path, those for `config` after a hold.
  private func transport() -> ScriptedTransport {
    ScriptedTransport { request, _ in
      let path = Array(request.source.description.split(separator: "/").last.map(String.init)?.utf8 ?? "".utf8)
      let answer = [ScriptedTransport.Step].answer(path)
      return request.source.description.hasSuffix("/config") ? [.hold] + answer : answer
    }
  }

  private func paths(_ transport: ScriptedTransport) -> [String] {
    transport.requests.map { $0.source.description.split(separator: "/").last.map(String.init) ?? "" }
  }

  @Test func `A download waits for another one, of another host and another downloader`() async throws {
    let transport = transport()
    let (first, second) = (Downloader(.prompt, transport: transport), Downloader(.prompt, transport: transport))
    let config = first.start(try DownloadRequest("config"))
    let package = second.start(try DownloadRequest("package", host: "b.test"), after: [config.token])
    await transport.exchanges.values(count: 1)[0].resume()
    #expect(await package.outcome.only().body == Array("package".utf8))
    #expect(paths(transport) == ["config", "package"])
    #expect(config.outcome.values.count == 1)
  }

  @Test func `Waiting, it takes nobody's place`() async throws {
    let transport = transport()
    let configuration = Downloader.Configuration.prompt.with {
      $0.concurrency = 2
      $0.perHost = 2
    }
    let downloader = Downloader(configuration, transport: transport)
    let config = downloader.start(try DownloadRequest("config"))
    let packages = try (0..<5).map { downloader.start(try DownloadRequest("package\($0)"), after: [config.token]) }
    let other = downloader.start(try DownloadRequest("other"))
    #expect(await other.outcome.only().failure == nil)
    #expect(downloader.runningCount == 6)
    await transport.exchanges.values(count: 1)[0].resume()
    for package in packages { #expect(await package.outcome.only().failure == nil) }
    #expect(paths(transport).prefix(2).sorted() == ["config", "other"])
    #expect(downloader.runningCount == 0)
  }

  @Test func `It runs also where the other one failed or was cancelled, and can look at what came of it`() async throws
  {
    let transport = ScriptedTransport { request, _ in
      request.source.description.hasSuffix("bad") ? .answer([1], status: 404) : [.hold]
    }
    let downloader = Downloader(.prompt, transport: transport)
    let failing = downloader.start(try DownloadRequest("bad"))
    let cancelled = downloader.start(try DownloadRequest("config"))
    let seen = Recorder<[Int?]>()
    let outcome = Recorder<Outcome>()
    downloader.download(after: [failing.token, cancelled.token]) { outcomes throws(FetchFailure) in
      seen.record(outcomes.map { (try? $0.get())?.response.status.code })
      throw FetchFailure(.offlineMiss, "Without its configuration it is of no use.")
    } completion: {
      outcome.record($0)
    }
    let plain = downloader.start(try DownloadRequest("bad"), after: [failing.token, cancelled.token])
    cancelled.token.cancel()
    #expect(await plain.outcome.only().body == [])
    #expect(await outcome.only().failure?.code == .offlineMiss)
    #expect(seen.values == [[404, nil]])
    #expect(downloader.runningCount == 0)
  }

  @Test func `Its address may come from what it waited for`() async throws {
    let transport = transport()
    let downloader = Downloader(.prompt, transport: transport)
    let config = downloader.start(try DownloadRequest("config"))
    let outcome = Recorder<Outcome>()
    downloader.download(after: [config.token]) { outcomes throws(FetchFailure) in
      let name = String(decoding: try outcomes[0].get().body, as: UTF8.self)
      return DownloadRequest(source: try SourceURL("http://b.test/package-of-\(name)"))
    } completion: {
      outcome.record($0)
    }
    await transport.exchanges.values(count: 1)[0].resume()
    #expect(await outcome.only().body == Array("package-of-config".utf8))
  }

  @Test func `It starts after the other's completion has returned`() async throws {
    let transport = transport()
    let downloader = Downloader(.prompt, transport: transport)
    let (events, gate) = (Recorder<String>(), Gate())
    let config = downloader.download(try DownloadRequest("config")) { _ in
      gate.wait()
      events.record("stored")
    }
    downloader.download(after: [config]) { _ throws(FetchFailure) in
      events.record("wanted")
      return DownloadRequest(source: try SourceURL("http://b.test/package"))
    } completion: { _ in
      events.record("done")
    }
    await transport.exchanges.values(count: 1)[0].resume()
    gate.open()
    #expect(await events.values(count: 3) == ["stored", "wanted", "done"])
  }

  @Test func `Waiting, it can be cancelled, by its caller and with all others`() async throws {
    let transport = transport()
    let downloader = Downloader(.prompt, transport: transport)
    let config = downloader.start(try DownloadRequest("config"))
    _ = await transport.exchanges.values(count: 1)
    let first = downloader.start(try DownloadRequest("first"), after: [config.token])
    let second = downloader.start(try DownloadRequest("second"), after: [config.token])
    first.token.cancel()
    #expect(await first.outcome.only().failure == .cancelled)
    downloader.cancelAll()
    #expect(await second.outcome.only().failure == .cancelled)
    #expect(await config.outcome.only().failure == .cancelled)
    await downloader.waitUntilFinished()
    #expect(paths(transport) == ["config"])
    #expect(downloader.runningCount == 0)
  }

  @Test func `What is wished while it waits holds when its turn comes`() async throws {
    let transport = transport()
    let downloader = Downloader(.prompt.with { $0.perHost = 1 }, transport: transport)
    let config = downloader.start(try DownloadRequest("config"))
    let low = downloader.start(try DownloadRequest("low", host: "b.test"), after: [config.token])
    let paused = downloader.start(try DownloadRequest("paused", host: "b.test"), after: [config.token])
    paused.token.pause()
    await transport.exchanges.values(count: 1)[0].resume()
    #expect(await low.outcome.only().failure == nil)
    #expect(paused.outcome.values.isEmpty)
    paused.token.resume()
    #expect(await paused.outcome.only().failure == nil)
  }

  @Test func `A chain of a thousand runs in its order`() async throws {
    let transport = ScriptedTransport { _, _ in .answer([1]) }
    let downloader = Downloader(.prompt, transport: transport)
    var last: [DownloadToken] = []
    for index in 0..<1000 { last = [downloader.start(try DownloadRequest("\(index)"), after: last).token] }
    await downloader.waitUntilFinished()
    #expect(paths(transport) == (0..<1000).map { "\($0)" })
  }
}
