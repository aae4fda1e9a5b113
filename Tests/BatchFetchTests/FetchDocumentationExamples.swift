import BatchFetch
import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
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

  @Test func `The example of RequestRate sets the rate that it shows`() {
    var configuration = Downloader.Configuration()
    configuration.rate = RequestRate("45/m")

    #expect(configuration.rate == RequestRate(count: 45, per: .seconds(60)))
  }

  @Test func `The example of CertificateBundle sets the file that a variable names`() {
    var configuration = CurlTransport.Configuration()
    let environment = ["SSL_CERT_FILE": "/authorities.pem"]
    configuration.systemAuthorities = CertificateBundle.find(environment: environment)

    #expect(configuration.systemAuthorities == "/authorities.pem")
  }

  @Test func `The example of HostRules has a rule with both the rate and the limit`() throws {
    var rules = HostRules()
    rules[try HostPattern("*")] = HostRule(rate: RequestRate("5/s"))
    rules[try HostPattern("*.cdn.example")] = HostRule(perHost: 16)
    print(rules.rule(for: "a.cdn.example"))  // both the rate and the limit

    #expect(rules.rule(for: "a.cdn.example") == HostRule(rate: RequestRate("5/s"), perHost: 16))
  }

  @Test func `The example of ContentRules rejects what it shows`() {
    let placeholder = BodyDigest(of: [1])
    var configuration = ThumbnailPipeline.Configuration()
    configuration.content.minPixels = 32 * 32
    configuration.content.rejectedDigests = [placeholder]

    #expect(configuration.content.minPixels == 1024 && configuration.content.rejectedDigests.contains(placeholder))
  }

  /// A session whose tokens expire.
  private struct Session {
    func token(after failure: FailureCode?) async throws -> String { failure == nil ? "kept" : "new" }
  }

  @Test func `The examples of RequestOptions and RequestModifier change what they show`() async throws {
    let session = Session()
    var request = ThumbnailRequest(url: "https://images.example/a.jpg", size: 128)
    request.options.cacheMode = .refresh
    request.options.retry = RetryPolicy(limit: 0)
    request.options.modifier = RequestModifier(id: "user 17") { attempt in
      attempt.headerFields[.authorization] = "Bearer \(try await session.token(after: attempt.lastFailure))"
    }

    let attempt = RequestAttempt(number: 2, lastFailure: .http(401), source: try SourceURL(request.url))
    let modified = try await request.options.modifier?.modify(attempt)
    #expect(modified?.headerFields[.authorization] == "Bearer new")
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
    let priorities = ThumbnailRequest.Priority.allCases

    #expect(priorities == [Priority.low, .normal, .high] && priorities.sorted() == priorities)
  }

  @Test func `The example of DownloadRequest makes the request that it shows`() throws {
    var request = DownloadRequest(source: try SourceURL("https://images.example/a.jpg"))
    request.headerFields[.referer] = "https://images.example/"
    request.priority = .high

    #expect(request.headerFields.count == 1 && request.priority == .high)
  }

  @Test func `The example of ResponseRules sets the rules that it shows`() throws {
    var request = DownloadRequest(source: try SourceURL("https://images.example/a.jpg"))
    request.responses.statuses = .codes([200, 404])
    request.responses.maxErrorBytes = 4096

    #expect(request.responses.statuses != ResponseRules().statuses && request.responses.maxErrorBytes == 4096)
  }

  @Test func `The examples of AddressPolicy and AddressPredicate make the policies that they show`() throws {
    var limits = TransferLimits()

    let store = AddressException.host(try HostPattern("*.store.internal"))
    let cluster = AddressException.addresses(try AddressRange("10.20.0.0/16"))
    limits.addresses = .publicOnly(except: [store, cluster])
    #expect(limits.addresses != .publicOnly)

    let partners: Set = ["images.partner.internal", "cdn.partner.internal"]
    let predicate = AddressPredicate(id: "partners") { connection in
      connection.isPublic || partners.contains(connection.host)
    }
    limits.addresses = .decided(by: predicate)
    #expect(limits.addresses == .decided(by: predicate))
  }

  // MARK: Examples that run over a scripted transport

  private let downloader = Downloader(transport: ScriptedTransport { _, _ in .response([1, 2, 3]) })
  private let queue = OperationQueue()

  private func pipeline() -> ThumbnailPipeline {
    let image = SampleImage.png(width: 8, height: 8)
    return ThumbnailPipeline(.init(cacheDirectory: nil), transport: ScriptedTransport { _, _ in .response(image) })
  }

  @Test func `The example of DownloadToken ends with the code of a cancellation`() async throws {
    let request = DownloadRequest(source: try SourceURL("https://images.example/a.jpg"))
    downloader.isSuspended = true

    let token = downloader.download(request) { result in
      print(result.map(\.body.count))
    }
    token.setPriority(.high)
    token.pause()
    token.resume()
    token.cancel()

    await downloader.waitUntilFinished()
    #expect(throws: FetchFailure.cancelled) { try token.result?.get() }
  }

  @Test func `The example of DownloadOperation reports the result of the operation`() async throws {
    let request = DownloadRequest(source: try SourceURL("https://images.example/a.jpg"))

    let operation = DownloadOperation(request, over: downloader) { progress in
      print(progress.fraction ?? 0)
    }
    let report = BlockOperation {
      print(operation.result?.map(\.body.count) as Any)
    }
    report.addDependency(operation)
    queue.addOperation(operation)
    queue.addOperation(report)

    await eventually { report.isFinished }
    #expect(try operation.result?.get().body == [1, 2, 3])
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

  @Test func `The example of a download into a file writes it`() async throws {
    let (directory, request) = (try TemporaryDirectory(), try DownloadRequest("package.tar"))
    let digest = BodyDigest(of: [1, 2, 3])
    let file = URL(filePath: directory.path("package.tar"))
    let token = downloader.download(request, to: file, expecting: ExpectedFile(digest: digest)) {
      print($0.map { $0.file?.length })
    }

    await downloader.waitUntilFinished()
    #expect(try token.result?.get().file?.length == 3)
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

  @Test func `The example of Milestone loads one image after the other`() async {
    let pipeline = pipeline()
    let firstRequest = ThumbnailRequest(url: "https://images.example/a.png", size: 8)
    var secondRequest = ThumbnailRequest(url: "https://images.example/b.png", size: 8)

    let first = pipeline.load(firstRequest) { print("first:", $0) }
    secondRequest.after = [first.finished]
    pipeline.load(secondRequest) { print("second:", $0) }

    await eventually { pipeline.decodeCount == 2 }
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

  @Test func `The example of the async download gets progress and the body`() async throws {
    let request = DownloadRequest(source: try SourceURL("https://images.example/a.jpg"))

    let (steps, progress) = AsyncStream.makeStream(of: DownloadProgress.self)
    async let download = downloader.download(request, progress: progress)
    for await step in steps { print(step.fraction ?? 0) }
    print(try await download.body.count)

    #expect(downloader.runningCount == 0)
  }

  private struct Package: Decodable {
    let url: String
  }

  @Test func `The example of a request that depends on a configuration file downloads the package`() async throws {
    let text = Array(#"{"url": "https://packages.example/a.pkg"}"#.utf8)
    let transport = ScriptedTransport { request, _ in
      .response(request.source.host == "config.example" ? text : [1, 2, 3])
    }
    let downloader = Downloader(transport: transport)
    let configRequest = try DownloadRequest(url: "https://config.example/config.json")

    let config = downloader.download(configRequest) { _ in }
    downloader.download(after: [config]) { outcomes in
      let file = try outcomes[0].get().body
      let package = try JSONDecoder().decode(Package.self, from: Data(file))
      return try DownloadRequest(url: package.url)
    } completion: { result in
      print(result.map(\.body.count))
    }

    await downloader.waitUntilFinished()
    #expect(transport.requests.map(\.source.host) == ["config.example", "packages.example"])
  }

  // MARK: Examples that would use the network: they only need to compile

  private func exampleOfDownloader() async throws {
    let downloader = Downloader()
    let source = try SourceURL("https://images.example/a.jpg")
    let download = try await downloader.download(DownloadRequest(source: source))
    print(download.response.status, download.body.count)
  }

  private func exampleOfPipeline() async throws {
    let pipeline = ThumbnailPipeline()
    let request = ThumbnailRequest(url: "https://images.example/a.jpg", size: 128)
    let set = try await pipeline.thumbnails(for: request)
    print(set.origin, set.thumbnails[0].bytes.count)
  }
}
