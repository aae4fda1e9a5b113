import BatchFetch
import DownloadsTesting
import Testing

/// The ways in which a test responds to requests.
@Suite(.timeLimit(.minutes(1))) struct StubTransportTests {
  @Test func `A canned image is loaded, and any other URL is not found`() async throws {
    let image = bitmap(width: 96, height: 24)

    let transport = StubTransport(["https://images.example/a.png": .response(body: image)])
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport)

    let request = ThumbnailRequest(url: "https://images.example/a.png", sizes: [48, 24])
    #expect(try await pipeline.thumbnails(for: request).thumbnails.map(\.size.width) == [48, 24])
    await #expect(throws: FetchFailure.self) {
      try await pipeline.thumbnails(for: ThumbnailRequest(url: "https://images.example/b.png", size: 24))
    }
  }

  @Test func `A test sends a response in pieces`() async throws {
    let request = try DownloadRequest(url: "https://images.example/a.bin")

    let transport = StubTransport()
    async let download = Downloader(transport: transport).download(request)
    let transfer = await transport.nextTransfer()
    transfer?.respond(length: 2)
    transfer?.send([1, 2])
    transfer?.end()

    #expect(try await download.body == [1, 2])
  }
}
