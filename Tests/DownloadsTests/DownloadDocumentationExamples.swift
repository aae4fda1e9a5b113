import DownloadSupport
import Downloads
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The code of the documentation comments, compiled as a client of the module would compile it.
@Suite struct DownloadDocumentationExamples {
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

  /// A session whose tokens expire.
  private struct Session {
    func token(after failure: FailureCode?) async throws -> String { failure == nil ? "kept" : "new" }
  }

  @Test func `The example of RequestModifier adds a token that expires`() async throws {
    let session = Session()
    var request = try DownloadRequest(url: "https://images.example/a.jpg")
    request.modifier = RequestModifier(id: "user 17") { attempt in
      attempt.headerFields[.authorization] = "Bearer \(try await session.token(after: attempt.lastFailure))"
    }

    let attempt = RequestAttempt(number: 2, lastFailure: .http(401), source: request.source)
    let modified = try await request.modifier?.modify(attempt)
    #expect(modified?.headerFields[.authorization] == "Bearer new")
  }

  // MARK: Examples that run over a scripted transport

  private let downloader = Downloader(transport: ScriptedTransport { _, _ in .response([1, 2, 3]) })
  private let queue = OperationQueue()

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

  @Test func `The example of Milestone downloads one file after the other`() async throws {
    let firstRequest = try DownloadRequest(url: "https://images.example/a.png")
    var secondRequest = try DownloadRequest(url: "https://images.example/b.png")

    let first = downloader.download(firstRequest) { print("first:", $0) }
    secondRequest.after = [first.finished]
    downloader.download(secondRequest) { print("second:", $0) }

    await downloader.waitUntilFinished()
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

  @Test func `The example of BucketAccess names a server and its key`() throws {
    var configuration = Downloader.Configuration()
    var store = BucketAccess.Store(endpoint: "http://127.0.0.1:9000")
    store.key = BucketAccess.Key(accessKey: "minio", secretKey: "minio-secret")
    configuration.buckets = BucketAccess(s3: store)
    #expect(configuration.buckets != nil)
  }

  // MARK: An example that would use the network: it only needs to compile

  private func exampleOfDownloader() async throws {
    let downloader = Downloader()
    let source = try SourceURL("https://images.example/a.jpg")
    let download = try await downloader.download(DownloadRequest(source: source))
    print(download.response.status, download.body.count)
  }
}
