import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// The responses that must never get into a cache that several users share (RFC 9111, section 3).
@Suite(.timeLimit(.minutes(10))) struct RemotePrivacyTests {
  @Test(arguments: [
    "private, max-age=3600", "no-store", "max-age=3600, no-store", "private=\"set-cookie\", max-age=3600",
  ])
  func `A private response is not uploaded, and is not looked up again while it is on disk`(control: String)
    async throws
  {
    let fixture = try RemoteFixture { _ in .image(fields: ["Cache-Control": control, "ETag": "\"v1\""]) }
    try await fixture.fill(try fixture.machine("one"))
    #expect(fixture.remote.requests("PUT").isEmpty && fixture.remote.requests("GET").count == 1)

    try await fixture.fill(try fixture.machine("one") { $0.cacheMode = .refresh })
    #expect(fixture.remote.requests("PUT").isEmpty)
    if !control.contains("no-store") { #expect(fixture.remote.requests("GET").count == 1) }
  }

  @Test func `A response that a private redirect led to is not uploaded`() async throws {
    let fixture = try RemoteFixture { request in
      request.target == "/a"
        ? .http(302, ["Location": "/b", "Cache-Control": "private, max-age=3600"])
        : .image(fields: ["Cache-Control": "max-age=3600", "ETag": "\"v1\""])
    }
    try await fixture.fill(try fixture.machine("one"))
    #expect(fixture.remote.requests("PUT").isEmpty)
  }

  @Test func `A response that a redirect with credentials led to is not uploaded`() async throws {
    let fixture = try RemoteFixture { request in
      request.target == "/a"
        ? .http(
          302,
          [
            "Location": "http://user:pw@\(request.fields["host"] ?? "")/b", "Cache-Control": "max-age=3600",
          ])
        : .image()
    }
    try await fixture.fill(try fixture.machine("one"))
    #expect(fixture.remote.requests("PUT").isEmpty && fixture.remote.requests("GET").count == 1)
    #expect(fixture.origin.requests.last?.fields["authorization"] != nil)
  }

  @Test func `Thumbnails of a kept original behind credentials are not uploaded either`() async throws {
    let fixture = try RemoteFixture { request in
      let fields = [
        "Location": "http://user:pw@\(request.fields["host"] ?? "")/b", "Cache-Control": "max-age=3600",
      ]
      return request.target == "/a" ? .http(302, fields) : .image(fields: ["Cache-Control": "max-age=3600"])
    }
    for size in [16, 24] {
      let machine = try fixture.machine("one") { $0.cache.originals = .standard }
      _ = try await machine.thumbnails(for: fixture.request(size: size))
      await machine.uploaded()
    }
    #expect(fixture.origin.requests.count == 2, "The second size is made from the kept original.")
    #expect(fixture.remote.requests("PUT").isEmpty && fixture.remote.requests("GET").count == 1)
  }

  @Test(arguments: ["Authorization", "Cookie", "X-API-Key", "Range", "X-Anything"])
  func `A request with a field that may be secret never reaches the remote cache`(name: String) async throws {
    let fixture = try RemoteFixture()
    let machine = try fixture.machine("one")
    var request = fixture.request()
    request.headerFields[HTTPField.Name(name)!] = "bytes=0-"
    _ = try? await machine.thumbnails(for: request)
    await machine.uploaded()
    #expect(fixture.origin.requests.count == 1 && fixture.remote.server.requests.isEmpty)
    #expect(machine.remoteCounters == RemoteCacheCounters())
  }

  @Test func `A request whose key leaves out a part of its URL, or with a modifier, never reaches the remote cache`()
    async throws
  {
    let fixture = try RemoteFixture()
    let machine = try fixture.machine("one")
    var (keyed, modified) = (fixture.request(), fixture.request())
    keyed.cacheKey = "a"
    modified.options.modifier = RequestModifier(id: "user") { _ in }
    for request in [keyed, modified] { _ = try await machine.thumbnails(for: request) }
    await machine.uploaded()
    #expect(fixture.origin.requests.count == 2 && fixture.remote.server.requests.isEmpty)
  }

  @Test func `A field of the configuration or of a host counts like one of the request`() async throws {
    let secret: HTTPFields = [.authorization: "Bearer secret"]
    let fixture = try RemoteFixture()
    try await fixture.fill(try fixture.machine("one") { $0.downloads.headerFields.append(contentsOf: secret) })
    let everyHost = try HostPattern("*")
    try await fixture.fill(
      try fixture.machine("two") { $0.downloads.hosts[everyHost] = HostRule(headerFields: secret) })
    #expect(fixture.origin.requests.count == 2 && fixture.remote.server.requests.isEmpty)
  }

  @Test func `Fields that are not secret are shared by requests with the same ones`() async throws {
    let fixture = try RemoteFixture()
    var request = fixture.request()
    request.headerFields[.referer] = "https://a.example/"
    request.headerFields[.acceptLanguage] = "de"
    for (name, origin) in [("one", ThumbnailSet.Origin.network), ("two", .remote)] {
      let machine = try fixture.machine(name)
      #expect(try await machine.thumbnails(for: request).origin == origin)
      await machine.uploaded()
    }
    #expect(try await fixture.machine("three").thumbnails(for: fixture.request()).origin == .network)
  }

  @Test func `A URL with credentials never reaches the remote cache`() async throws {
    let fixture = try RemoteFixture()
    let machine = try fixture.machine("one")
    let url = fixture.origin.url("/a").replacing("http://", with: "http://user:pw@")
    _ = try await machine.thumbnails(for: ThumbnailRequest(url: url, size: 16))
    await machine.uploaded()
    #expect(fixture.origin.requests.count == 1 && fixture.remote.server.requests.isEmpty)
  }

  enum Setting: CaseIterable { case netrc, insecureHost, cookies, authorities }

  @Test(arguments: Setting.allCases)
  func `Nothing that the transport adds or trusts by its own settings reaches the remote cache`(setting: Setting)
    async throws
  {
    let fixture = try RemoteFixture()
    var transport = CurlTransport.Configuration.direct
    switch setting {
    case .netrc: transport.netrc = try fixture.directory.write("machine 127.0.0.1 login u password p", as: "netrc")
    case .insecureHost: transport.insecureHosts = ["127.0.0.1"]
    case .cookies: transport.cookies = try CookieFile("127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue")
    case .authorities: transport.certificateAuthorities = try fixture.directory.write("", as: "ca.pem")
    }
    try await fixture.fill(try fixture.machine("one", transport: transport))
    #expect(fixture.origin.requests.count == 1 && fixture.remote.server.requests.isEmpty)
  }

  @Test func `An image of a private address never reaches the remote cache without the setting`() async throws {
    let fixture = try RemoteFixture()
    try await fixture.fill(try fixture.machine("one") { $0.remoteCache?.allowsPrivateSources = false })
    #expect(fixture.origin.requests.count == 1 && fixture.remote.server.requests.isEmpty)
  }

  @Test(arguments: [(0, 16), (3600, 24)])
  func `An image whose host name leads to a private address is not uploaded, nor looked up again`(
    lifetime: Int, size: Int
  ) async throws {
    let fixture = try RemoteFixture { _ in
      .image(fields: ["Cache-Control": "max-age=\(lifetime)", "ETag": "\"v1\""])
    }
    // The second time, the image is stale, or a thumbnail is made from the kept original.
    for size in [16, size] {
      let machine = try fixture.machine("one", names: RemoteFixture.loopback) {
        $0.remoteCache?.allowsPrivateSources = false
        $0.cache.originals = .standard
      }
      _ = try await machine.thumbnails(for: ThumbnailRequest(url: fixture.namedURL(), size: size))
      await machine.uploaded()
    }
    #expect(fixture.origin.requests.count == (lifetime == 0 ? 2 : 1))
    #expect(fixture.remote.requests("GET").count == 1 && fixture.remote.requests("PUT").isEmpty)
  }

  @Test func `An image is not uploaded if a redirect to it came from a private address`() async throws {
    let fixture = try RemoteFixture { request in
      let target = "http://\(request.fields["host"] ?? "")/b"
      return request.target == "/a" ? .http(301, ["Location": target, "Cache-Control": "max-age=60"]) : .image()
    }
    let machine = try fixture.machine("one", names: RemoteFixture.loopback) {
      $0.remoteCache?.allowsPrivateSources = false
    }
    _ = try await machine.thumbnails(for: ThumbnailRequest(url: fixture.namedURL(), size: 16))
    await machine.uploaded()
    #expect(fixture.remote.requests("GET").count == 1 && fixture.remote.requests("PUT").isEmpty)
  }

  @Test func `With public addresses only, no image that another machine has got from a private address is served`()
    async throws
  {
    let fixture = try RemoteFixture()
    let request = ThumbnailRequest(url: fixture.namedURL(), size: 16)
    let first = try fixture.machine("one", names: RemoteFixture.loopback)
    _ = try await first.thumbnails(for: request)
    await first.uploaded()
    #expect(
      try await fixture.machine("two", names: RemoteFixture.loopback).thumbnails(for: request).origin == .remote)

    for allowsPrivate in [false, true] {
      let careful = try fixture.machine("three", names: RemoteFixture.loopback) {
        $0.remoteCache?.allowsPrivateSources = allowsPrivate
        $0.downloads.limits.addresses = .publicOnly
      }
      let failure = await #expect(throws: FetchFailure.self) { try await careful.thumbnails(for: request) }
      #expect(failure?.code == .blockedAddress && careful.remoteCounters?.misses == 1)
    }
  }

  @Test(arguments: [
    "http://127.0.0.1/b", "http://files.internal/b", "http://user:pw@b.example/b", "file:///b", "b", "",
  ])
  func `An object of the remote cache that came from a private or unusual place is not used`(finalURL: String)
    async throws
  {
    let fixture = try RemoteFixture()
    let request = ThumbnailRequest(url: fixture.namedURL(), size: 16)
    let (codec, key) = (RemoteObjectCodec(secret: nil, space: "private"), SourceKey(url: fixture.namedURL()))
    let first = try fixture.machine("one", names: RemoteFixture.loopback)
    _ = try await first.thumbnails(for: request)
    await first.uploaded()
    // The machine without the setting finds the same objects under its own names.
    let open = RemoteObjectCodec(secret: nil)
    func object(_ name: String) -> [UInt8] { fixture.remote.objects["/cache/\(name)"] ?? [] }
    var source = try #require(codec.source(in: object(codec.name(of: key)), key: key, url: request.url))
    let (spec, digest) = (request.specs[0], try #require(source.digest))
    let (old, new) = (codec.name(of: spec, from: digest), open.name(of: spec, from: digest))
    let thumbnail = try #require(codec.thumbnail(in: object(old), spec, from: digest))
    fixture.remote.objects["/cache/\(new)"] = open.object(of: thumbnail, from: digest)
    for (name, url, origin) in [
      ("two", "http://b.example/b", ThumbnailSet.Origin.remote), ("three", finalURL, .network),
    ] {
      source.finalURL = url
      fixture.remote.objects["/cache/\(open.name(of: key))"] = open.object(of: source, key: key)
      let machine = try fixture.machine(name, names: RemoteFixture.loopback) {
        $0.remoteCache?.allowsPrivateSources = false
      }
      #expect(try await machine.thumbnails(for: request).origin == origin)
    }
  }

  @Test(arguments: [
    ("/a", "/b?X-Amz-Signature=secret", false), ("/a?x=1", "/b?x=1&token=secret", false), ("/a?x=1", "/b?x=1", true),
    ("/a?x=1", "/b", true),
  ])
  func `An image behind a redirect to a URL with another query, which may be a secret, is not uploaded`(
    path: String, target: String, isShared: Bool
  ) async throws {
    let fixture = try RemoteFixture { request in
      request.target == path ? .http(302, ["Location": target, "Cache-Control": "max-age=60"]) : .image()
    }
    try await fixture.fill(try fixture.machine("one"), path)
    #expect(fixture.origin.requests.count == 2)
    #expect(fixture.remote.requests("PUT").isEmpty == !isShared)
    #expect(fixture.remote.objects.values.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("secret") })
  }

  @Test func `A local file never reaches the remote cache`() async throws {
    let fixture = try RemoteFixture()
    let machine = try fixture.machine("one") { $0.files = .allowed }
    let path = try fixture.directory.write(SampleImage.png(width: 40, height: 30), as: "a.png")
    #expect(try await machine.thumbnails(for: ThumbnailRequest(url: "file://\(path)", size: 16)).origin == .file)
    await machine.uploaded()
    #expect(fixture.remote.server.requests.isEmpty)
  }

  @Test func `No credentials, cookies or fields of images are sent to the remote cache`() async throws {
    let fixture = try RemoteFixture()
    try await fixture.fill(
      try fixture.machine("one") { $0.downloads.headerFields[.userAgent] = "robot" })
    let names = Set(fixture.remote.server.requests.flatMap(\.fields.keys))
    #expect(
      names.isSubset(of: [
        "host", "user-agent", "accept", "accept-encoding", "content-type", "content-length", "if-none-match",
      ]))
    #expect(Set(fixture.remote.server.requests.map { $0.fields["user-agent"] }) == ["thumbs/\(Downloader.version)"])
  }

  @Test func `The credentials of the cache's URL are sent to the remote cache only`() async throws {
    let fixture = try RemoteFixture()
    let url = fixture.remote.url.replacing("http://", with: "http://user:pw@")
    try await fixture.fill(try fixture.machine("one", cache: url))
    #expect(fixture.remote.server.requests.count == 3)
    #expect(fixture.remote.server.requests.allSatisfy { $0.fields["authorization"] == "Basic dXNlcjpwdw==" })
    #expect(fixture.origin.requests.allSatisfy { $0.fields["authorization"] == nil })
  }
}
