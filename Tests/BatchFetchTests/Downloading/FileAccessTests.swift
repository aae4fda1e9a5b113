import DownloadSupport
import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(20))) struct FileAccessTests {
  private let directory: TemporaryDirectory
  private let request: DownloadRequest

  init() throws {
    directory = try TemporaryDirectory()
    request = DownloadRequest(source: try SourceURL("file://\(directory.write("secret", as: "a"))"))
  }

  private let transport = ScriptedTransport { _, _ in .response([1]) }

  @Test func `A file is refused unless files are allowed, and each caller gets one failure`() async throws {
    let downloader = Downloader(.prompt, transport: transport)
    let downloads = [downloader.start(request), downloader.start(request)]
    for download in downloads { #expect(await download.outcome.only().failure?.code == .blockedScheme) }

    downloads[0].token.cancel()
    await downloader.waitUntilFinished()
    #expect(downloads.allSatisfy { $0.outcome.values.count == 1 })
    #expect(downloader.runningCount == 0 && transport.requests.isEmpty)
    #expect(downloads[1].token.result?.failure?.attempts == 0)
  }

  @Test func `A file that another download names is refused unless files are allowed`() async throws {
    let downloader = Downloader(.prompt, transport: transport)
    let config = downloader.start(try DownloadRequest("config"))
    let outcome = Recorder<Outcome>()

    downloader.download(after: [config.token]) { [request] _ throws(FetchFailure) in
      request
    } completion: {
      outcome.record($0)
    }
    let plain = downloader.start(request, after: [config.token])
    #expect(await outcome.only().failure?.code == .blockedScheme)
    #expect(await plain.outcome.only().failure?.code == .blockedScheme)

    await downloader.waitUntilFinished()
    #expect(outcome.values.count == 1 && transport.requests.count == 1 && downloader.runningCount == 0)
  }

  @Test func `Allowed files are read without the transport, which is used for everything else`() async throws {
    let downloader = Downloader(.prompt.with { $0.files = .allowed }, transport: transport)

    #expect(try await downloader.download(request).body == Array("secret".utf8))
    #expect(transport.requests.isEmpty)
    #expect(try await downloader.download(DownloadRequest("b")).body == [1])
  }

  @Test(arguments: [(FileAccess.allowed, FileAccess.refused), (.refused, .allowed)])
  func `The access to files of a pipeline replaces that of its downloads`(own: FileAccess, downloads: FileAccess)
    async throws
  {
    let fixture = try PipelineFixture { _ in .image() }
    let path = try directory.write(SampleImage.png(width: 8, height: 8), as: "b.png")
    let pipeline = fixture.pipeline(change: {
      $0.files = own
      $0.downloads.files = downloads
    })

    let set = try? await pipeline.thumbnails(for: ThumbnailRequest(url: "file://\(path)", size: 8))
    #expect((set?.origin == .file) == (own == .allowed))

    let direct = await Result(of: { () async throws(FetchFailure) in
      try await pipeline.context.downloader.download(request)
    })
    #expect((direct.failure == nil) == (own == .allowed))
  }

  @Test func `The old name of the type for access to files still works`() {
    let access: FileAccess = .allowed
    #expect(access == FileAccess.allowed)
  }
}
