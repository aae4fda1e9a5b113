import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(10))) struct DownloaderTests {
  private func request(_ url: String) throws -> DownloadRequest { DownloadRequest(source: try SourceURL(url)) }

  @Test func `A download has the body, the header fields and the final URL`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/old" ? .http(302, ["Location": "/new"]) : .http(200, ["ETag": "\"1\""], Array("bytes".utf8))
    }
    let download = try await Downloader(.patient).download(request(server.url("/old")))

    #expect(download.body == Array("bytes".utf8))
    #expect(download.response.headerFields[.eTag] == "\"1\"")
    #expect(download.finalURL == server.url("/new"))
    #expect(download.attempts == 1)
  }

  @Test func `A request has a user agent, and accepts any media type by default`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    var request = try request(server.url("/"))
    let downloader = Downloader(.patient)
    _ = try await downloader.download(request)
    request.accept = "image/*"
    _ = try await downloader.download(request)

    #expect(
      server.requests.map { $0.fields["user-agent"] } == Array(repeating: "thumbs/\(Downloader.version)", count: 2))
    #expect(server.requests.map { $0.fields["accept"] } == ["*/*", "image/*"])
  }

  @Test func `Callers that accept different media types share no download`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .response([1]) }
    let downloader = Downloader(.prompt, transport: transport)
    var request = try DownloadRequest("a")
    let outcomes = ["*/*", "image/png", "*/*"].map { accept in
      request.accept = accept
      return downloader.start(request).outcome
    }
    await transport.resume(first: 2)
    for outcome in outcomes { #expect(await outcome.only().failure == nil) }

    #expect(transport.requests.map { $0.headerFields[.accept] }.sorted { $0 ?? "" < $1 ?? "" } == ["*/*", "image/png"])
  }

  @Test func `Callers of one source share one request`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .http(200, [:], [1, 2, 3]).after(gate) }
    let downloader = Downloader(.patient)
    let results = Recorder<Result<Download, FetchFailure>>()
    let wanted = try request(server.url("/a"))

    for _ in 0..<100 { downloader.download(wanted) { results.record($0) } }
    gate.open()
    let bodies = await results.values(count: 100).map { try? $0.get().body }

    #expect(bodies == Array(repeating: [1, 2, 3], count: 100))
    #expect(server.requests.count == 1)
    #expect(downloader.runningCount == 0)
  }

  @Test func `A caller with a fresh copy of the target of a redirect shares its download with no other`() async throws {
    let transport = ScriptedTransport { request, number in
      guard request.source.lastPathComponent == "a" else { return .response([1]) }
      return (number == 1 ? [.hold] : []) + [.head(302, [.location: "/target"]), .end]
    }
    let downloader = Downloader(.prompt, transport: transport)
    var request = try DownloadRequest("a")
    request.freshTarget = "http://a.test/target"
    let copy = downloader.start(request).outcome
    let held = await transport.exchanges.values(count: 1)[0]
    let other = downloader.start(try DownloadRequest("a")).outcome
    held.resume()

    #expect(try await copy.only().get().isTargetReused)
    #expect(await other.only().body == [1])
  }

  @Test func `A caller that leaves fails as canceled, and the other one is served`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .http(200, [:], [7]).after(gate) }
    let downloader = Downloader(.patient)
    let (first, second) = (Recorder<Result<Download, FetchFailure>>(), Recorder<Result<Download, FetchFailure>>())
    let wanted = try request(server.url("/a"))
    let token = downloader.download(wanted) { first.record($0) }

    downloader.download(wanted) { second.record($0) }
    await server.waitForRequests(1)
    token.cancel()
    #expect(await first.values(count: 1).first?.failure == .cancelled)

    gate.open()
    #expect(try await second.values(count: 1).first?.get().body == [7])

    token.cancel()
    #expect(first.values.count == 1)
  }

  @Test func `The connection is closed when the last caller leaves`() async throws {
    let server = try LoopbackServer { _ in ServerReply([.send(ServerReply.head(200, ["Content-Length": "9"]))]) }
    let downloader = Downloader(.patient)
    let results = Recorder<Result<Download, FetchFailure>>()
    let wanted = try request(server.url("/a"))
    let tokens = (0..<2).map { _ in downloader.download(wanted) { results.record($0) } }

    await server.waitForRequests(1)
    for token in tokens { token.cancel() }
    await server.waitForClosedConnections(1)

    #expect(await results.values(count: 2).map(\.failure) == [.cancelled, .cancelled])
    #expect(downloader.runningCount == 0)
  }

  @Test func `A source that is requested again after a cancel is downloaded again`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .http(200, [:], [7]).after(gate) }
    let downloader = Downloader(.patient)
    let results = Recorder<Result<Download, FetchFailure>>()
    let wanted = try request(server.url("/a"))
    let token = downloader.download(wanted) { results.record($0) }

    await server.waitForRequests(1)
    token.cancel()
    let second = Recorder<Result<Download, FetchFailure>>()
    downloader.download(wanted) { second.record($0) }
    gate.open()

    #expect(try await second.values(count: 1).first?.get().body == [7])
    #expect(await results.values(count: 1).first?.failure == .cancelled)
  }

  @Test func `A canceled task cancels its download`() async throws {
    let server = try LoopbackServer { _ in ServerReply([.send(ServerReply.head(200, ["Content-Length": "9"]))]) }
    let downloader = Downloader(.patient)
    let wanted = try request(server.url("/a"))
    let task = Task { try await downloader.download(wanted) }

    await server.waitForRequests(1)
    task.cancel()

    await #expect(throws: FetchFailure.cancelled) { try await task.value }
    #expect(downloader.runningCount == 0)
  }

  @Test func `A temporary failure is retried after a pause`() async throws {
    let count = Counter()
    let server = try LoopbackServer { _ in
      count.next() < 3 ? ServerReply([.reset]) : .http(200, [:], [1])
    }
    let clock = ManualClock()
    var configuration = Downloader.Configuration.patient
    configuration.clock = clock
    let downloader = Downloader(configuration)
    let wanted = try request(server.url("/a"))
    let task = Task { try await downloader.download(wanted) }

    for _ in 0..<2 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(30))
    }

    #expect(try await task.value.attempts == 3)
  }

  @Test func `A download canceled in the pause before a retry ends at once and makes no request`() async throws {
    let server = try LoopbackServer { _ in ServerReply([.reset]) }
    let clock = ManualClock()
    var configuration = Downloader.Configuration.patient
    configuration.clock = clock
    let downloader = Downloader(configuration)
    let outcome = Recorder<Result<Download, FetchFailure>>()
    let token = try downloader.download(request(server.url("/a"))) { outcome.record($0) }

    await clock.waitForSleepers(1)
    token.cancel()
    #expect(await outcome.values(count: 1).map(\.failure) == [.cancelled])

    clock.advance(by: .seconds(60))
    await eventually { downloader.runningCount == 0 && downloader.hostCount == 0 }
    #expect(server.requests.count == 1 && outcome.values.count == 1)
  }

  @Test func `A Retry-After field is obeyed and stops the whole host`() async throws {
    let count = Counter()
    let server = try LoopbackServer { _ in
      count.next() == 1 ? .http(503, ["Retry-After": "7"]) : .http(200, [:], [1])
    }
    let clock = ManualClock()
    var configuration = Downloader.Configuration.patient
    configuration.clock = clock
    let downloader = Downloader(configuration)
    let (first, second) = (try request(server.url("/a")), try request(server.url("/b")))
    let task = Task { try await downloader.download(first) }

    await clock.waitForSleepers(2)
    #expect(clock.nextDeadline == .seconds(7))

    let other = Task { try await downloader.download(second) }
    await eventually { downloader.runningCount == 2 }
    // A request that ignored the pause would have arrived before this one, which runs to its end.
    _ = try await Downloader(.patient).download(request(server.url("/c")))
    #expect(server.requests.map(\.target) == ["/a", "/c"])

    clock.advance(by: .seconds(7))
    #expect(try await task.value.response.status == .ok)
    #expect(try await other.value.response.status == .ok)
    #expect(server.requests.count == 4)
  }

  @Test func `A suspended downloader connects to no server`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let downloader = Downloader(.patient)
    downloader.isSuspended = true
    let wanted = try request(server.url("/a"))
    let task = Task { try await downloader.download(wanted) }

    await eventually { downloader.runningCount == 1 }
    // A request that ignored the suspension would have arrived before this one, which runs to its end.
    _ = try await Downloader(.patient).download(request(server.url("/b")))
    #expect(server.requests.map(\.target) == ["/b"])

    downloader.isSuspended = false
    #expect(try await task.value.body == [1])
  }

  @Test(arguments: [1, 3]) func `A host never has more transfers at a time than its limit`(limit: Int) async throws {
    let (gate, load) = (Gate(), LoadMeter())
    let server = try LoopbackServer { _ in
      load.enter()
      defer { load.leave() }
      gate.wait()
      return .http(200, [:], [1])
    }
    var configuration = Downloader.Configuration.patient
    configuration.perHost = limit
    let downloader = Downloader(configuration)
    let results = Recorder<Result<Download, FetchFailure>>()

    for index in 0..<20 { downloader.download(try request(server.url("/\(index)"))) { results.record($0) } }
    await server.waitForRequests(limit)
    gate.open()

    #expect(await results.values(count: 20).allSatisfy { $0.failure == nil })
    #expect(load.peak <= limit)
    #expect(server.requests.count == 20)
  }

  @Test func `A body over the limit is refused by its declared length or by its actual one`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/declared"
        ? .http(200, [:], Array(repeating: 0, count: 2000))
        : ServerReply([.send(ServerReply.head(200, [:]) + Array(repeating: 0, count: 2000)), .close])
    }
    var configuration = Downloader.Configuration.patient
    configuration.limits.maxBytes = 1000

    for path in ["/declared", "/endless"] {
      let wanted = try request(server.url(path))
      let error = await #expect(throws: FetchFailure.self) { try await Downloader(configuration).download(wanted) }
      #expect(error?.code == .tooLargeBytes)
    }
  }

  @Test func `An inspection that throws ends the download early`() async throws {
    let server = try LoopbackServer { _ in
      ServerReply([.send(ServerReply.head(200, ["Content-Length": "1000000"]) + Array("<html>".utf8))])
    }
    let wanted = DownloadRequest(source: try SourceURL(server.url("/a"))) { bytes throws(FetchFailure) in
      if bytes.starts(with: Array("<html>".utf8)) { throw FetchFailure(.badEncoding, "A web page.") }
      return true
    }

    let error = await #expect(throws: FetchFailure.self) { try await Downloader(.patient).download(wanted) }

    #expect(error?.code == .badEncoding)

    await server.waitForClosedConnections(1)
  }
}
