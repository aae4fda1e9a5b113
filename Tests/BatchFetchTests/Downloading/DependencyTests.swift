import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// Downloads that wait for others, as a package waits for its configuration file.
///
/// A test shows that a download has not started while the one it waits for is held: another download, requested last
/// and through the same single place, runs from its start to its end before it.
@Suite(.timeLimit(.minutes(10))) struct DependencyTests {
  /// Holds requests for paths that begin with `config`, and responds to every request with its path.
  private static let script: ScriptedTransport.Script = { request, _ in
    let path = request.source.lastPathComponent
    return (path.hasPrefix("config") ? [.hold] : []) + .response(Array(path.utf8))
  }

  private let transport = ScriptedTransport(Self.script)

  @Test func `A download waits for one of another host and another downloader`() async throws {
    let (first, second) = (Downloader(.serial, transport: transport), Downloader(.serial, transport: transport))
    let config = first.start(try DownloadRequest("config"))
    _ = await transport.exchanges.values(count: 1)

    let package = second.start(try DownloadRequest("package", host: "b.test"), after: [config.token])
    let other = second.start(try DownloadRequest("other", host: "b.test"))
    #expect(await other.outcome.only().failure == nil)
    #expect(transport.paths == ["config", "other"])
    #expect(package.outcome.values.isEmpty)

    await transport.resume(first: 1)
    #expect(await package.outcome.only().body == Array("package".utf8))
    #expect(transport.paths == ["config", "other", "package"])
    #expect(config.outcome.values.count == 1)
  }

  @Test func `A download that waits for another one takes no place from others`() async throws {
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

    await transport.resume(first: 1)
    for package in packages { #expect(await package.outcome.only().failure == nil) }
    #expect(transport.paths.prefix(2).sorted() == ["config", "other"])
    #expect(downloader.runningCount == 0)
  }

  @Test func `A download runs even if those it waited for failed or were canceled, and can see how they ended`()
    async throws
  {
    let transport = ScriptedTransport { request, _ in
      request.source.description.hasSuffix("bad") ? .response([1], status: 404) : [.hold]
    }
    let downloader = Downloader(.prompt, transport: transport)
    let failing = downloader.start(try DownloadRequest("bad").acceptingAll)
    let canceled = downloader.start(try DownloadRequest("config"))
    let seen = Recorder<[Int?]>()
    let outcome = Recorder<Outcome>()
    downloader.download(after: [failing.token, canceled.token]) { outcomes throws(FetchFailure) in
      seen.record(outcomes.map { (try? $0.get())?.response.status.code })
      throw FetchFailure(.offlineMiss, "Useless without its configuration.")
    } completion: {
      outcome.record($0)
    }
    let plain = downloader.start(try DownloadRequest("bad").acceptingAll, after: [failing.token, canceled.token])

    canceled.token.cancel()

    #expect(await plain.outcome.only().body == [])
    #expect(await outcome.only().failure?.code == .offlineMiss)
    #expect(seen.values == [[404, nil]])
    #expect(downloader.runningCount == 0)
  }

  @Test func `The URL of a download may come from the body of the one it waited for`() async throws {
    let downloader = Downloader(.prompt, transport: transport)
    let config = downloader.start(try DownloadRequest("config"))
    let outcome = Recorder<Outcome>()
    downloader.download(after: [config.token]) { outcomes throws(FetchFailure) in
      let name = String(decoding: try outcomes.first?.get().body ?? [], as: UTF8.self)
      return DownloadRequest(source: try SourceURL("http://b.test/package-of-\(name)"))
    } completion: {
      outcome.record($0)
    }

    await transport.resume(first: 1)

    #expect(await outcome.only().body == Array("package-of-config".utf8))
  }

  @Test func `A download starts after the completion of the one it waits for has returned`() async throws {
    let downloader = Downloader(.serial, transport: transport)
    let (isInside, gate, events) = (Recorder<Void>(), Gate(), Recorder<String>())
    let config = downloader.download(try DownloadRequest("config")) { _ in
      isInside.record(())
      gate.wait()
      events.record("stored")
    }
    downloader.download(after: [config]) { _ throws(FetchFailure) in
      events.record("requested")
      return DownloadRequest(source: try SourceURL("http://b.test/package"))
    } completion: { _ in
      events.record("done")
    }
    let plain = downloader.start(try DownloadRequest("plain"), after: [config])
    await transport.resume(first: 1)
    _ = await isInside.values(count: 1)

    let other = downloader.start(try DownloadRequest("other"))
    #expect(await other.outcome.only().failure == nil)
    #expect(transport.paths == ["config", "other"])
    #expect(events.values.isEmpty)

    gate.open()
    #expect(await events.values(count: 3) == ["stored", "requested", "done"])
    #expect(await plain.outcome.only().failure == nil)
  }

  @Test func `A download that waits for another one can be canceled, alone or with all others`() async throws {
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
    #expect(transport.paths == ["config"])
    #expect(downloader.runningCount == 0)
  }

  @Test func `A priority set while a download waits for another one holds when its turn comes`() async throws {
    let waiting = WaitingTransport { request, _ in [.hold] + Self.script(request, 0) }
    let (configs, downloader) = (
      Downloader(.prompt, transport: transport), Downloader(.prompt.with { $0.concurrency = 1 }, transport: waiting)
    )
    _ = downloader.start(try DownloadRequest("first"))
    _ = await waiting.inner.exchanges.values(count: 1)
    let names = ["low", "normal", "high"]
    let tokens = try names.map { name in
      let config = configs.start(try DownloadRequest("config-of-\(name)"))
      return downloader.start(try DownloadRequest(name), after: [config.token]).token
    }
    tokens[0].setPriority(.low)
    tokens[2].setPriority(.high)
    _ = downloader.start(try DownloadRequest("other"))
    try #require(await waiting.waiting.values(count: 2) == ["first", "other"])

    // Started one after the other, so that each waits for the connection behind the one before it.
    for exchange in await transport.exchanges.values(count: 3).sorted(by: names) {
      let count = waiting.waiting.values.count
      exchange.resume()
      _ = await waiting.waiting.values(count: count + 1)
    }
    #expect(waiting.waiting.values == ["first", "other"] + names)
    await waiting.inner.resume(first: 5)
    await downloader.waitUntilFinished()

    #expect(waiting.inner.paths == ["first", "high", "other", "normal", "low"])
  }

  @Test func `A download passes its priority to those whose end it waits for, and they to others`() async throws {
    let downloader = Downloader(.serial, transport: transport)
    _ = downloader.start(try DownloadRequest("config"))
    _ = await transport.exchanges.values(count: 1)
    let names = ["a", "b", "c", "d", "e", "f"]
    let tokens = try names.map { downloader.start(try DownloadRequest($0, priority: .low)).token }
    for number in 0..<10 { _ = downloader.start(try DownloadRequest("\(number)")) }

    // From the start, through another download, and later. The last one no longer counts when it has left.
    _ = downloader.start(try DownloadRequest("after-c", priority: .high), after: [tokens[2]])
    let next = downloader.start(try DownloadRequest("after-e", priority: .low), after: [tokens[4]]).token
    _ = downloader.start(try DownloadRequest("after-after-e", priority: .high), after: [next])
    let raised = downloader.start(try DownloadRequest("after-b", priority: .low), after: [tokens[1]]).token
    raised.setPriority(.high)
    let leaving = downloader.start(try DownloadRequest("after-f", priority: .high), after: [tokens[5]]).token
    leaving.cancel()
    await transport.resume(first: 1)
    await downloader.waitUntilFinished()

    let order = transport.paths.filter { names.contains($0) || $0 == "9" }
    #expect(order == ["c", "e", "b", "9", "a", "d", "f"])
  }

  @Test func `A request for thumbnails passes its priority to the download whose end it waits for`() async throws {
    let downloader = Downloader(.serial, transport: transport)
    _ = downloader.start(try DownloadRequest("config"))
    _ = await transport.exchanges.values(count: 1)
    let tokens = try ["low", "raised"].map { downloader.start(try DownloadRequest($0, priority: .low)).token }
    var request = ThumbnailRequest(url: "http://a.test/image", size: 4)
    request.priority = .high
    request.after = [tokens[1].finished]
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport)
    let ended = Recorder<Void>()
    pipeline.load(request) { _ in ended.record(()) }

    await transport.resume(first: 1)
    await downloader.waitUntilFinished()
    _ = await ended.values(count: 1)
    #expect(transport.paths.filter { $0 != "image" } == ["config", "raised", "low"])
  }

  @Test(arguments: [(nil, Priority.high), (.high, .low), (.low, .high)] as [(Priority?, Priority)])
  func `The priority of a token counts for a request that is made late, and otherwise its own`(
    token: Priority?, request: Priority
  ) async throws {
    let waiting = WaitingTransport { request, _ in [.hold] + Self.script(request, 0) }
    let (configs, downloader) = (
      Downloader(.prompt, transport: transport), Downloader(.prompt.with { $0.concurrency = 1 }, transport: waiting)
    )
    for name in ["first", "other"] { _ = downloader.start(try DownloadRequest(name)) }
    try #require(await waiting.waiting.values(count: 2) == ["first", "other"])
    let config = configs.start(try DownloadRequest("config"))
    let package = downloader.download(after: [config.token]) { _ throws(FetchFailure) in
      DownloadRequest(source: try SourceURL("http://a.test/package"), priority: request)
    } completion: { _ in
    }
    if let token { package.setPriority(token) }

    await transport.resume(first: 1)
    _ = await waiting.waiting.values(count: 3)
    await waiting.inner.resume(first: 3)
    await downloader.waitUntilFinished()
    #expect(waiting.inner.paths == ["first"] + (token == .low ? ["other", "package"] : ["package", "other"]))
  }

  @Test func `A pause made while a download waits for another one holds when its turn comes`() async throws {
    let (configs, downloader) = (Downloader(.prompt, transport: transport), Downloader(.serial, transport: transport))
    let observer = RecordingObserver()
    downloader.addObserver(observer)
    let config = configs.start(try DownloadRequest("config"))
    _ = await transport.exchanges.values(count: 1)
    let package = downloader.start(try DownloadRequest("package"), after: [config.token])
    package.token.pause()
    let before = downloader.start(try DownloadRequest("before"))
    #expect(await before.outcome.only().failure == nil)
    await observer.waitForEvents { _, finished in finished == 1 }
    #expect(!observer.events.values.contains("started http://a.test/package"))
    #expect(transport.paths == ["config", "before"])

    await transport.resume(first: 1)
    await observer.waitForEvents { started, _ in started == 2 }
    let other = downloader.start(try DownloadRequest("other"))
    #expect(await other.outcome.only().failure == nil)
    #expect(transport.paths == ["config", "before", "other"])
    #expect(package.outcome.values.isEmpty)

    package.token.resume()
    #expect(await package.outcome.only().failure == nil)
  }

  @Test func `A chain of a thousand downloads runs one at a time, in its order`() async throws {
    let transport = ScriptedTransport { _, _ in .response([1]) }
    let downloader = Downloader(.prompt, transport: transport)
    var last: [DownloadToken] = []

    for index in 0..<1000 { last = [downloader.start(try DownloadRequest("\(index)"), after: last).token] }
    await downloader.waitUntilFinished()

    #expect(transport.paths == (0..<1000).map { "\($0)" })
    #expect(transport.load.peak == 1)
  }
}

extension [ScriptedExchange] {
  /// The exchanges in the order of the names that their paths end with.
  fileprivate func sorted(by names: [String]) -> [ScriptedExchange] {
    names.compactMap { name in first { $0.request.source.lastPathComponent.hasSuffix(name) } }
  }
}
