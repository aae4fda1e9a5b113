import BatchFetch
import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

/// The code of the documentation comments, compiled as a client of the module would compile it.
@Suite struct FetchDocumentationExamples {
  @Test func `The example of ThumbnailRequest makes the request that it shows`() {
    var request = ThumbnailRequest(
      url: "https://example.com/photo.jpg",
      specs: [ThumbnailSpec(width: 64), ThumbnailSpec(width: 320, height: 180, fit: .cover)])
    request.mirrors = ["https://mirror.example.com/photo.jpg"]
    request.headerFields[.referer] = "https://example.com/"
    request.priority = .high

    #expect(request.specs.map(\.label) == ["64x64", "320x180"])
    #expect(request.mirrors.count == 1 && request.headerFields.count == 1)
    #expect(request.priority == Priority.high)
  }

  @Test func `The example of ContentRules rejects what it shows`() {
    let placeholder = BodyDigest(of: [1])
    var configuration = ThumbnailPipeline.Configuration()
    configuration.content.minPixels = 32 * 32
    configuration.content.rejectedDigests = [placeholder]

    #expect(configuration.content.minPixels == 1024 && configuration.content.rejectedDigests.contains(placeholder))
  }

  @Test func `The example of RequestOptions changes what it shows`() {
    var request = ThumbnailRequest(url: "https://images.example/a.jpg", size: 128)
    request.options.cacheMode = .refresh
    request.options.retry = RetryPolicy(limit: 0)

    #expect(request.options.cacheMode == .refresh && request.options.retry?.limit == 0)
  }

  @Test func `The values that code of a client gets can be made by its tests`() throws {
    let digest = BodyDigest(of: [1])
    let file = DownloadedFile(url: URL(filePath: "/a.bin"), length: 1, digest: digest)
    var download = Download(response: HTTPResponse(status: .ok), body: [1])
    #expect(download.length == 1 && download.attempts == 1)
    download.file = file
    let progress = DownloadProgress(attempt: 1, received: 1, total: 4)
    let item = BatchItem(index: 0, element: "a", outcome: .failure(.cancelled), finished: 1)

    #expect(download.file?.resumed == 0 && progress.fraction == 0.25 && item.total == nil)
  }

  @Test func `The nested name of the priority still compiles`() {
    let priorities = Priority.allCases

    #expect(priorities == [Priority.low, .normal, .high] && priorities.sorted() == priorities)
  }

  // MARK: Examples that run over a stub transport

  private let image = SampleImage.png(width: 8, height: 8)

  @Test func `The example of StubTransport gets the thumbnail of a canned image`() async throws {
    let transport = StubTransport(["https://images.example/a.png": .response(body: image)])
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport)
    let set = try await pipeline.thumbnails(for: ThumbnailRequest(url: "https://images.example/a.png", size: 64))

    #expect(set.thumbnails[0].data.count == set.thumbnails[0].bytes.count)
    #expect(set[ThumbnailSpec(width: 64)] == set.thumbnails[0] && set[ThumbnailSpec(width: 65)] == nil)
    let failure = await #expect(throws: FetchFailure.self) {
      try await pipeline.thumbnails(for: ThumbnailRequest(url: "https://me:secret@images.example/b.png", size: 64))
    }
    #expect(failure?.code == .http(404) && failure?.url == "https://***@images.example/b.png")
  }

  @Test func `The test of the example of StubTransport plays the server`() async throws {
    let request = try DownloadRequest(url: "https://images.example/a.png")

    let transport = StubTransport()
    async let download = Downloader(transport: transport).download(request)
    let transfer = await transport.nextTransfer()
    transfer?.respond(length: 2)
    transfer?.send([1, 2])
    transfer?.end()
    print(try await download.body)

    #expect(transport.requests.map(\.source.description) == ["https://images.example/a.png"])
  }

  @Test func `The example of ManualClock moves the clock of a downloader`() {
    let clock = ManualClock()
    var configuration = Downloader.Configuration()
    configuration.clock = clock
    clock.advance(by: .seconds(60))

    #expect(ManualClock.Instant.self == type(of: clock.now) && clock.minimumResolution == .zero)
  }

  private actor Album {
    var cover: Thumbnail?
    var bodies: [[UInt8]?] = []
  }

  @Test func `The examples for actors change their state`() async throws {
    let transport = StubTransport { [image] _ in .response(body: image) }
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport)
    let (album, request) = (Album(), ThumbnailRequest(url: "https://images.example/a.png", size: 4))
    let (library, downloader) = (album, pipeline.downloader)

    pipeline.load(request, isolation: album) { album, outcome in
      album.cover = try? outcome.get().thumbnails[0]
    }
    while await album.cover == nil { await Task.yield() }
    do {
      let request = try DownloadRequest(url: "https://images.example/b.png")
      downloader.download(request, isolation: library) { library, result in
        library.bodies.append(try? result.get().body)
      }
    }
    while await album.bodies.isEmpty { await Task.yield() }

    #expect(await album.bodies == [image])
  }

  @Test func `The examples of tokens and batches change priorities`() async throws {
    let transport = StubTransport { [image] _ in .response(body: image) }
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport)
    let request = ThumbnailRequest(url: "https://images.example/a.png", size: 4)
    let requests = [request]

    let urgency = Mutex<ThumbnailToken?>(nil)
    async let set = pipeline.thumbnails(for: request, token: { token in urgency.withLock { $0 = token } })
    urgency.withLock { $0?.setPriority(.high) }
    print(try await set.thumbnails.count)

    let run = Batch(requests, over: pipeline).start { item in print(item.outcome) }
    run.setPriority(.low)
    run.cancel()
    await run.group.finished()
  }

  @Test func `The example of a download operation writes a file`() async throws {
    let directory = try TemporaryDirectory()
    let downloader = Downloader(transport: StubTransport { [image] _ in .response(body: image) })
    let (file, digest) = (URL(filePath: directory.path("a.png")), BodyDigest(of: image))
    let request = try DownloadRequest(url: "https://images.example/a.png")

    let operation = DownloadOperation(request, to: file, expecting: ExpectedFile(digest: digest), over: downloader)
    queue.addOperation(operation)

    await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
    #expect(try operation.result?.get().file?.digest == digest)
    #expect(try [UInt8](Data(contentsOf: file)) == image)
  }

  // MARK: Examples that run over a scripted transport

  private let queue = OperationQueue()

  private func pipeline() -> ThumbnailPipeline {
    let image = SampleImage.png(width: 8, height: 8)
    return ThumbnailPipeline(.init(cacheDirectory: nil), transport: ScriptedTransport { _, _ in .response(image) })
  }

  @Test func `The example of ThumbnailOperation runs after its dependency`() async throws {
    let (pipeline, url) = (pipeline(), "https://images.example/a.png")
    let login = BlockOperation()
    queue.addOperation(login)

    let operation = ThumbnailOperation(ThumbnailRequest(url: url, size: 128), over: pipeline)
    operation.addDependency(login)
    operation.queuePriority = .veryHigh
    queue.addOperation(operation)

    await eventually { operation.isFinished }
    #expect(login.isFinished)
    #expect(try operation.result?.get().thumbnails.count == 1)
  }

  @Test func `The example of ThumbnailToken cancels the request`() async {
    // The response never ends, so only the cancellation ends the request.
    let endless = ScriptedTransport { _, _ in [.head(200, [:]), .hold] }
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: endless)
    let request = ThumbnailRequest(url: "https://images.example/a.png", size: 8)

    let token = pipeline.load(request) { result in
      print(result.map(\.thumbnails.count))
    }
    token.setPriority(.high)
    token.cancel()

    await eventually { pipeline.runningCount == 0 }
    #expect(pipeline.decodeCount == 0)
  }

  @Test func `The examples of events, batches and groups end with the pipeline`() async throws {
    let pipeline = pipeline()
    let requests = ["a", "b"].map { ThumbnailRequest(url: "https://images.example/\($0).png", size: 8) }
    let (batch, everything) = (Batch(requests, over: pipeline), DispatchGroup())
    let downloader = pipeline.downloader
    let watching = Task {
      for await case .progressed(let source, let progress) in downloader.events {
        print(source, progress.received)
      }
    }

    let summary = await batch.forEach { item in print(item.finished, item.outcome) }
    print(summary.succeeded, summary.failed)
    let run = batch.start { _ in }
    run.group.notify(queue: .main) { print("The batch has ended.") }
    run.group.join(everything)  // a DispatchGroup of the program
    await pipeline.shutdown(within: .seconds(5))

    watching.cancel()
    await watching.value
    #expect(summary.succeeded == 2)
  }

  @Test func `The example of Batch delivers all items`() async {
    let (pipeline, urls) = (pipeline(), ["https://images.example/a.png", "https://images.example/b.png"])

    let requests = urls.map { ThumbnailRequest(url: $0, size: 64) }
    for await item in Batch(requests, over: pipeline) {
      print(item.finished, item.total ?? 0, item.outcome)
    }

    #expect(pipeline.decodeCount == 2)
  }

  @Test func `The example of BatchProgress reports elements and bytes`() async {
    let requests = [ThumbnailRequest(url: "https://images.example/a.png", size: 64)]
    let batch = Batch(requests, over: pipeline())

    let run = batch.start { item in
      print(item.index, item.outcome)
    } progress: { progress in
      print(progress.finished, progress.receivedBytes, progress.expectedBytes ?? 0)
    }

    await run.group.finished()
    #expect(BatchProgress().expectedBytes == nil)
  }

  @Test func `The example of a synchronous lookup shows the placeholder`() {
    struct Cell { func show(_ set: ThumbnailSet?) {} }
    let (pipeline, cell, placeholder) = (pipeline(), Cell(), ThumbnailSet?.none)
    let request = ThumbnailRequest(url: "https://images.example/a.png", size: 64)

    cell.show(pipeline.cached(request) ?? placeholder)

    #expect(pipeline.cached(request) == nil)
  }

  private func sharedPipeline(password: String) throws -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.remoteCache = try RemoteCache("http://thumbs:\(password)@cache.internal/thumbs")
    configuration.remoteCache?.access = .readOnly
    return ThumbnailPipeline(configuration)
  }

  @Test func `The example of RemoteCache makes a pipeline that counts`() throws {
    #expect(try sharedPipeline(password: "secret").remoteCounters == RemoteCacheCounters())
  }

  // MARK: An example that would use the network: it only needs to compile

  private func exampleOfPipeline() async throws {
    let pipeline = ThumbnailPipeline()
    let request = ThumbnailRequest(url: "https://images.example/a.jpg", size: 128)
    let set = try await pipeline.thumbnails(for: request)
    print(set.origin, set.thumbnails[0].bytes.count)
  }
}
