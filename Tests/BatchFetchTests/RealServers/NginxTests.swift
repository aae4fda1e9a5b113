import DownloadSupport
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

@Suite("nginx", .timeLimit(.minutes(10)), .needs(.http)) struct NginxTests {
  @Test func `Many images arrive unchanged over few connections`() async throws {
    let urls = try (0..<200).map { try RealServers.url(.http, "/fjord.jpg?\($0)") }
    let file = try RealServers.file("fjord.jpg")

    let downloads = try await RealServers.downloader(width: 8).downloadAll(urls)

    #expect(downloads.count == 200 && downloads.allSatisfy { $0.body == file })
    #expect(Set(downloads.map { $0.field("X-Connection") }).count <= 8)
    #expect(downloads.allSatisfy { $0.field("X-Protocol") == "HTTP/1.1" })
  }

  @Test func `A gzip-coded file is decoded`() async throws {
    let download = try await RealServers.downloader().download(RealServers.url(.http, "/coded/fjord.jpg"))

    #expect(download.response.headerFields[.contentEncoding] == "gzip")
    #expect(try download.body == RealServers.file("fjord.jpg"))
  }

  @Test func `A request with a Content-Length field does not damage the next one on its connection`() async throws {
    let downloader = try RealServers.downloader(width: 1)
    let urls = try (0..<6).map { try RealServers.url(.http, "/fjord.jpg?\($0)") }
    var failures = 0

    for (index, url) in urls.enumerated() {
      var request = DownloadRequest(source: try SourceURL(url))
      if index % 2 == 1 { request.headerFields[.contentLength] = "60" }
      do throws(FetchFailure) {
        #expect(try await downloader.download(request).response.status == .ok)
      } catch {
        #expect(index % 2 == 1 && error.code == .badRow)
        failures += 1
      }
    }

    #expect(failures == 3)
  }

  @Test func `A range request gets a 206`() async throws {
    var request = DownloadRequest(source: try SourceURL(RealServers.url(.http, "/fjord.jpg")))
    request.headerFields[.range] = "bytes=10-19"

    let download = try await RealServers.downloader().download(request)

    #expect(download.response.status == .partialContent && download.body.count == 10)
    #expect(download.response.headerFields[.contentRange]?.hasPrefix("bytes 10-19/") == true)
  }

  @Test func `An entry that nginx confirms by its ETag is served from the cache`() async throws {
    let fixture = try PipelineFixture { _ in .http(500) }
    let request = ThumbnailRequest(url: try RealServers.url(.http, "/fjord.jpg"), size: 32)
    let first = fixture.pipeline()
    let original = try await first.thumbnails(for: request)
    await first.flush()

    let second = try await fixture.pipeline(mode: .refresh).thumbnails(for: request)

    #expect(original.origin == .network && second.origin == .revalidated && second.httpStatus == 304)
    #expect(second.thumbnails == original.thumbnails)
  }

  @Test func `A redirect by nginx is followed`() async throws {
    let download = try await RealServers.downloader().download(RealServers.url(.http, "/moved"))

    #expect(try download.finalURL == RealServers.url(.http, "/fjord.jpg"))
    #expect(try download.body == RealServers.file("fjord.jpg"))
  }

  @Test func `A missing file is a 404 without the body of its error page`() async throws {
    let request = DownloadRequest(source: try SourceURL(RealServers.url(.http, "/missing"))).acceptingAll

    let download = try await RealServers.downloader().download(request)

    #expect(download.response.status == .notFound && download.body.isEmpty)
  }
}

@Suite("nginx over TLS", .timeLimit(.minutes(10)), .needs(.http2)) struct NginxSecureTests {
  private typealias Results = Recorder<Result<Download, FetchFailure>>

  @Test func `HTTP/2 carries many concurrent images over one connection`() async throws {
    let urls = try (0..<100).map { try RealServers.url(.http2, "/fjord.jpg?\($0)") }
    let file = try RealServers.file("fjord.jpg")

    let downloads = try await RealServers.downloader(width: 32).downloadAll(urls)

    #expect(downloads.allSatisfy { $0.body == file && $0.field("X-Protocol") == "HTTP/2.0" })
    #expect(Set(downloads.map { $0.field("X-Connection") }).count == 1)
  }

  @Test func `Canceling one HTTP/2 download disturbs no other, and leaves their connection open`() async throws {
    let downloader = try RealServers.downloader()
    let (canceled, thirds, others) = (Results(), Results(), Results())
    let token = Mutex<DownloadToken?>(nil)
    let progress = Counter()
    let third = DownloadRequest(source: try SourceURL(RealServers.url(.http2, "/fjord.jpg")))
    let other = DownloadRequest(source: try SourceURL(RealServers.url(.http2, "/slow/fjord.jpg?other")))
    var request = DownloadRequest(source: try SourceURL(RealServers.url(.http2, "/slow/fjord.jpg")))
    // Cancels during the transfer, on the receiving thread: the test's own task could resume after the transfer's end.
    request.inspection = { _ throws(FetchFailure) in
      token.withLock { $0 }?.cancel()
      return true
    }

    // The other download takes many seconds, so its connection is in use when each of the next two starts. libcurl
    // closes a connection that no transfer uses while bytes of the canceled one still arrive.
    _ = downloader.download(other) { [request] _ in
      guard progress.next() == 1 else { return }
      token.withLock {
        $0 = downloader.download(request) { result in
          canceled.record(result)
          downloader.download(third) { thirds.record($0) }
        }
      }
    } completion: {
      others.record($0)
    }

    #expect(await canceled.values(count: 1).map(\.failure) == [.cancelled])
    let downloads = try await [thirds.values(count: 1)[0].get(), others.values(count: 1)[0].get()]
    let file = try RealServers.file("fjord.jpg")
    #expect(downloads.allSatisfy { $0.body == file && $0.attempts == 1 })
    #expect(Set(downloads.map { $0.field("X-Connection") }).count == 1)
  }

  @Test func `Without HTTP/2, an https server gets no more connections than allowed`() async throws {
    let urls = try (0..<50).map { try RealServers.url(.https, "/fjord.jpg?\($0)") }

    let downloads = try await RealServers.downloader(width: 4).downloadAll(urls)

    #expect(downloads.allSatisfy { $0.field("X-Protocol") == "HTTP/1.1" })
    #expect(Set(downloads.map { $0.field("X-Connection") }).count <= 4)
  }

  @Test(arguments: [RealServers.Name.expired, .wrongHost, .selfSigned, .oldTLS])
  func `A bad certificate or TLS version fails for good, unless the host is an insecure one`(name: RealServers.Name)
    async throws
  {
    let url = try RealServers.url(name, "/fjord.jpg")

    let strict = try Downloader(.prompt, transport: RealServers.transport())
    let failure = await #expect(throws: FetchFailure.self) { try await strict.download(url) }
    #expect(failure?.code == .tls && failure?.attempts == 1 && failure?.message.isEmpty == false)

    guard name != .oldTLS else { return }
    let insecure = try RealServers.downloader { $0.insecureHosts = ["localhost"] }
    #expect(try await insecure.download(url).response.status == .ok)
  }

  @Test func `An unknown certificate authority is not trusted`() async throws {
    let downloader = try RealServers.downloader { $0.certificateAuthorities = nil }
    let url = try RealServers.url(.https, "/fjord.jpg")

    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(url) }

    #expect(failure?.code == .tls)
  }

  @Test func `A missing file of certificate authorities is a failure that names its remedy`() async throws {
    let downloader = try RealServers.downloader { $0.certificateAuthorities = "/missing.pem" }
    let url = try RealServers.url(.https, "/fjord.jpg")

    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(url) }

    #expect(failure?.code == .tls)
    #expect(failure?.message.contains("/missing.pem. Install the package ca-certificates, or name a file") == true)
  }

  @Test func `The authorities of the system are trusted unless others replace them`() async throws {
    let (authority, url) = (try RealServers.url(.authority), try RealServers.url(.https, "/fjord.jpg"))
    func downloader(_ authorities: String?, system: String) throws -> Downloader {
      try RealServers.downloader { ($0.certificateAuthorities, $0.systemAuthorities) = (authorities, system) }
    }

    _ = try await downloader(nil, system: authority).download(url)
    _ = try await downloader(authority, system: "/missing.pem").download(url)
    await #expect(throws: FetchFailure.self) { try await downloader("/missing.pem", system: authority).download(url) }
  }

  @Test func `An insecure host with a port covers only that host and port, on redirects too`() async throws {
    let (from, to) = (try SourceURL(RealServers.url(.expired)), try SourceURL(RealServers.url(.selfSigned)))
    let url = try RealServers.url(.expired, "/elsewhere")

    let one = try RealServers.downloader { $0.insecureHosts = [from.host] }
    let failure = await #expect(throws: FetchFailure.self) { try await one.download(url) }
    #expect(failure?.code == .tls)

    let both = try RealServers.downloader { $0.insecureHosts = [from.host, to.host] }
    #expect(try await both.download(url).response.status == .ok)
  }

  @Test(arguments: [(RealServers.Name.selfSigned, "/fjord.jpg"), (.https, "/elsewhere")])
  func `A response from an unverified host is never served to a pipeline that verifies`(
    name: RealServers.Name, path: String
  ) async throws {
    let fixture = try PipelineFixture { _ in .http(500) }
    let request = ThumbnailRequest(url: try RealServers.url(name, path), size: 32)
    let authority = try RealServers.url(.authority)
    func origin(_ hosts: Set<String>, _ mode: CacheMode) async throws -> ThumbnailSet.Origin {
      var transport = CurlTransport.Configuration.direct
      transport.certificateAuthorities = authority
      transport.insecureHosts = hosts
      let pipeline = fixture.pipeline(mode: mode, transport: transport)
      defer { pipeline.flush() }
      return try await pipeline.thumbnails(for: request).origin
    }
    let insecure = try SourceURL(RealServers.url(.selfSigned)).host
    #expect(try await origin([insecure], .normal) == .network)

    let failure = await #expect(throws: FetchFailure.self) { try await origin([], .offline) }
    #expect(failure?.code == .offlineMiss)

    let again = try? await origin([insecure], .offline)
    #expect((again != nil) == (name == .selfSigned))
  }

  @Test func `A redirect by nginx from https to http is refused`() async throws {
    let url = try RealServers.url(.https, "/plain")

    let failure = await #expect(throws: FetchFailure.self) { try await RealServers.downloader().download(url) }

    #expect(failure?.code == .blockedScheme && failure?.code.isRetryable == false)
  }
}

@Suite("tinyproxy", .timeLimit(.minutes(10)), .needs(.proxy), .needs(.http2)) struct ForwardProxyTests {
  private func downloader(exceptions: String = "") throws -> Downloader {
    let proxy = try RealServers.url(.proxy)
    return try RealServers.downloader {
      $0.proxies = ProxySettings(environment: ["all_proxy": proxy, "no_proxy": exceptions])
    }
  }

  @Test func `A proxy forwards images over http`() async throws {
    let urls = try (0..<50).map { try RealServers.url(.http, "/fjord.jpg?\($0)") }
    let file = try RealServers.file("fjord.jpg")

    let downloads = try await downloader().downloadAll(urls)

    #expect(downloads.allSatisfy { $0.body == file && $0.field("X-Via")?.contains("tinyproxy") == true })
  }

  @Test func `A proxy tunnels https without access to the content`() async throws {
    // The proxy resolves names with the system, and not every system knows `localhost`.
    let url = try RealServers.url(.http2, "/fjord.jpg").replacing("localhost", with: "127.0.0.1")

    let download = try await downloader().download(url)

    #expect(try download.body == RealServers.file("fjord.jpg") && download.field("X-Via") == nil)
    #expect(download.field("X-Protocol") == "HTTP/2.0")
  }

  @Test func `A host in NO_PROXY gets the request directly`() async throws {
    let download = try await downloader(exceptions: "127.0.0.1").download(RealServers.url(.http, "/fjord.jpg"))

    #expect(download.field("X-Via") == nil)
  }
}
