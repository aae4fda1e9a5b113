import BatchFetch
import DownloadSupport
import TestSupport
import Testing

/// Closures of any actor, which change its state without a detour.
@Suite(.timeLimit(.minutes(10))) struct ActorTests {
  /// An actor with icons. The compiler would reject its closures if they were not of the actor.
  private actor Album {
    private(set) var events: [String] = []
    private let ends = AsyncStream.makeStream(of: Void.self)

    func add(_ event: String) { events.append(event) }

    func load(_ request: ThumbnailRequest, from pipeline: ThumbnailPipeline) -> ThumbnailToken {
      pipeline.load(request, isolation: self) { album, _ in
        if album.events.last != "progress" { album.add("progress") }
      } completion: { album, outcome in
        album.end((try? outcome.get().thumbnails.count).map { "\($0)" } ?? "failed")
      }
    }

    func download(_ request: DownloadRequest, from downloader: Downloader) {
      downloader.download(request, isolation: self) { album, result in
        album.end((try? result.get().body.count).map { "\($0)" } ?? "failed")
      }
    }

    private func end(_ event: String) {
      add(event)
      ends.continuation.yield()
    }

    func isFinished() async {
      for await _ in ends.stream { return }
    }
  }

  private let image = SampleImage.png(width: 8, height: 8)

  @Test func `The closures of an actor are called in order, the completion last`() async throws {
    let pipeline = ThumbnailPipeline(
      .init(cacheDirectory: nil), transport: StubTransport(["http://a.test/a": .response(body: image)]))
    let album = Album()
    _ = await album.load(ThumbnailRequest(url: "http://a.test/a", sizes: [8, 4]), from: pipeline)
    await album.isFinished()

    #expect(await album.events == ["progress", "2"])
  }

  @Test func `A cancellation reaches the actor as a failure`() async throws {
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: StubTransport())
    let album = Album()
    await album.load(ThumbnailRequest(url: "http://a.test/a", size: 8), from: pipeline).cancel()
    await album.isFinished()

    #expect(await album.events == ["failed"])
  }

  @Test func `An actor gets the body of a download`() async throws {
    let downloader = Downloader(transport: StubTransport { _ in .response(body: [1, 2]) })
    let album = Album()
    await album.download(try DownloadRequest(url: "http://a.test/a"), from: downloader)
    await album.isFinished()

    #expect(await album.events == ["2"])
  }

  @Test func `An async request has progress, and a token for its priority`() async throws {
    let transport = StubTransport()
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport)
    let (steps, progress) = AsyncStream.makeStream(of: DownloadProgress.self)
    let tokens = Recorder<ThumbnailToken>()
    async let set = pipeline.thumbnails(
      for: ThumbnailRequest(url: "http://a.test/a", size: 8), progress: progress, token: { tokens.record($0) })

    let token = await tokens.values(count: 1)[0]
    token.setPriority(.high)
    let transfer = try #require(await transport.nextTransfer())
    transfer.respond(length: image.count)
    transfer.send(image)
    transfer.end()

    #expect(try await set.thumbnails.count == 1)
    #expect(await steps.reduce(into: 0) { $0 = $1.received } == image.count)
  }

  @Test func `A request that its token cancels throws the cancellation`() async throws {
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: StubTransport())
    await #expect(throws: FetchFailure.cancelled) {
      try await pipeline.thumbnails(
        for: ThumbnailRequest(url: "http://a.test/a", size: 8), token: { $0.cancel() })
    }
  }
}
