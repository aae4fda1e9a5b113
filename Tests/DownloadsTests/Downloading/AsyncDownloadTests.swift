import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// The async form of downloads, and requests that closures make.
@Suite(.timeLimit(.minutes(10))) struct AsyncDownloadTests {
  private struct ConfigError: Error, CustomStringConvertible {
    var description: String { "The configuration names no package." }
  }

  @Test func `The stream of an async download gets its progress, and ends with it`() async throws {
    let transport = ScriptedTransport { _, _ in
      [.head(200, [.contentLength: "3"]), .bytes([1]), .hold, .bytes([2, 3]), .end]
    }
    let downloader = Downloader(.prompt, transport: transport)
    let (steps, progress) = AsyncStream.makeStream(of: DownloadProgress.self)
    let request = try DownloadRequest("a")
    async let download = downloader.download(request, progress: progress)

    var received: [Int] = []
    for await step in steps {
      received.append(step.received)
      if step.received == 1 { transport.exchanges.values[0].resume() }
    }

    #expect(received.first == 1 && received.last == 3)
    #expect(try await download.body == [1, 2, 3])
  }

  @Test func `The stream of an async download that fails ends too`() async throws {
    let downloader = Downloader(.prompt, transport: ScriptedTransport { _, _ in [.fail(.tls)] })
    let (steps, progress) = AsyncStream.makeStream(of: DownloadProgress.self)

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader.download(DownloadRequest("a"), progress: progress)
    }
    for await _ in steps {}

    #expect(failure?.code == .tls)
  }

  @Test func `An async download begins after those that it waits for`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "first" ? [.hold] + .response([1]) : .response([2])
    }
    let downloader = Downloader(.prompt, transport: transport)
    let first = downloader.start(try DownloadRequest("first"))
    let request = try DownloadRequest("second")
    async let second = downloader.download(request, after: [first.token])

    await eventually { downloader.runningCount == 2 }
    #expect(transport.paths == ["first"])
    await transport.resume(first: 1)

    #expect(try await second.body == [2])
    #expect(first.token.result?.body == [1])
  }

  @Test func `An error of the closure that makes a request is its failure`() async throws {
    let downloader = Downloader(.prompt, transport: ScriptedTransport { _, _ in .response([1]) })
    let outcomes = Recorder<Outcome>()

    downloader.download(after: []) { _ in
      throw ConfigError()
    } completion: {
      outcomes.record($0)
    }

    let failure = await outcomes.only().failure
    #expect(failure?.code == .requestFailed && failure?.code.isRetryable == false)
    #expect(failure?.message.contains("The configuration names no package.") == true)
  }

  @Test func `A failure of the closure that makes a request keeps its code`() async throws {
    let transport = ScriptedTransport { request, _ in .response([1], status: 404) }
    let downloader = Downloader(.prompt, transport: transport)
    let outcomes = Recorder<Outcome>()
    let config = downloader.download(try DownloadRequest("config")) { _ in }

    downloader.download(after: [config]) { outcomes in
      _ = try outcomes[0].get()
      throw ConfigError()
    } completion: {
      outcomes.record($0)
    }

    #expect(await outcomes.only().failure?.code == .http(404))
  }
}
