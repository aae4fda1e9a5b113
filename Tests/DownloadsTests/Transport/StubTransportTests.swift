import DownloadSupport
import Downloads
import TestSupport
import Testing

/// The transport that programs test with.
@Suite(.timeLimit(.minutes(10))) struct StubTransportTests {
  private func request() throws -> DownloadRequest { try DownloadRequest(url: "http://a.test/a") }

  @Test func `A canned reply that breaks a rule fails as the response of a server does`() async throws {
    let transport = StubTransport { _ in .response(body: Array(repeating: 1, count: 99)) }
    var configuration = Downloader.Configuration()
    configuration.retry = RetryPolicy(limit: 0)
    configuration.limits.maxBytes = 50
    let tooLarge = await #expect(throws: FetchFailure.self) {
      try await Downloader(configuration, transport: transport).download(request())
    }
    #expect(tooLarge?.code == .tooLargeBytes)

    configuration.limits.maxBytes = 500
    #expect(try await Downloader(configuration, transport: transport).download(request()).body.count == 99)
    var refusing = try request()
    refusing.inspection = { _ throws(FetchFailure) in throw FetchFailure(.badURL, "Refused.") }
    refusing.inspectionID = 1
    let refused = await #expect(throws: FetchFailure.self) {
      try await Downloader(configuration, transport: transport).download(refusing)
    }
    #expect(refused?.code == .badURL)
  }

  @Test func `A task that is canceled while it waits for a transfer takes none`() async throws {
    let transport = StubTransport()
    let waiting = Task { await transport.nextTransfer() == nil }
    waiting.cancel()
    #expect(await waiting.value)

    async let download = Downloader(transport: transport).download(request())
    let transfer = try #require(await transport.nextTransfer())
    transfer.respond(length: 1)
    transfer.send([7])
    transfer.end()
    #expect(try await download.body == [7])
  }

  @Test func `A failure is that of the transfer`() async throws {
    var configuration = Downloader.Configuration()
    configuration.retry = RetryPolicy(limit: 0)
    let transport = StubTransport { _ in .failure(FetchFailure(.connectFailed, "No route.")) }
    let failure = await #expect(throws: FetchFailure.self) {
      try await Downloader(configuration, transport: transport).download(request())
    }
    #expect(failure?.code == .connectFailed && failure?.url == "http://a.test/a")
  }
}
