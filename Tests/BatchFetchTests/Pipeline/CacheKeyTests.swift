import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// The part of the cache key that the transport adds.
@Suite(.timeLimit(.minutes(10))) struct CacheKeyTests {
  /// `net:rc` and `net:other` as Basic credentials (RFC 7617).
  private static let images = ["Basic bmV0OnJj": 1, "Basic bmV0Om90aGVy": 2]

  /// A server with a different image at `/a` for each user, and one at `/public` for everyone.
  private func fixture() throws -> PipelineFixture {
    try PipelineFixture { request in
      if request.target == "/public" { return .image(9) }
      let user = request.fields["authorization"].flatMap { Self.images[$0] }
      return user.map { .image($0) } ?? .http(404)
    }
  }

  private func run(_ fixture: PipelineFixture, netrc: String? = nil, path: String = "/a") async throws -> ThumbnailSet {
    var transport = CurlTransport.Configuration.direct
    transport.netrc = try netrc.map { try fixture.directory.write($0, as: "netrc") }
    let pipeline = fixture.pipeline(transport: transport)
    defer { pipeline.flush() }
    return try await pipeline.thumbnails(for: fixture.request(path))
  }

  @Test func `Users of a credentials file and anonymous users get their own responses from the cache`()
    async throws
  {
    let fixture = try fixture()
    let (one, other) = ("machine 127.0.0.1 login net password rc", "machine 127.0.0.1 login net password other")

    for _ in 0..<2 {
      let failure = await #expect(throws: FetchFailure.self) { try await run(fixture) }
      #expect(failure?.code == .http(404))
      let first = try await run(fixture, netrc: one)
      let second = try await run(fixture, netrc: other)
      #expect(first.thumbnails != second.thumbnails)
    }

    #expect(try await run(fixture, netrc: one).origin == .disk)
    #expect(fixture.server.requests.count == 3)
  }

  @Test func `A host whose rule removes the accepted media types shares no entries`() async throws {
    let fixture = try fixture()
    #expect(try await run(fixture, path: "/public").origin == .network)
    let pattern = try HostPattern("127.0.0.1")
    let pipeline = fixture.pipeline(change: { $0.downloads.hosts[pattern] = HostRule(headerFields: [.accept: ""]) })

    #expect(try await pipeline.thumbnails(for: fixture.request("/public")).origin == .network)
  }

  @Test func `The header fields of a host's rule are part of the cache key, and those of another host's are not`()
    async throws
  {
    let fixture = try fixture()
    func image(_ host: String, _ value: String) async throws -> ThumbnailSet.Origin {
      let pattern = try HostPattern(host)
      let pipeline = fixture.pipeline(change: {
        $0.downloads.hosts[pattern] = HostRule(headerFields: [.authorization: value])
        $0.downloads.headerFields[.authorization] = "Basic bmV0OnJj"
      })
      defer { pipeline.flush() }
      return try await pipeline.thumbnails(for: fixture.request("/a")).origin
    }

    #expect(try await image("other.example", "x") == .network)
    #expect(try await image("other.example", "y") == .disk)
    #expect(try await image("127.0.0.1", "Basic bmV0Om90aGVy") == .network)
    #expect(try await image("127.0.0.1", "Basic bmV0Om90aGVy") == .disk)
  }

  @Test func `Thumbnails made with another profile of inks are not served`() async throws {
    let (plain, tagged) = try (Self.picture("cmyk.jpg"), Self.picture("cmyk-profile.jpg"))
    let fixture = try PipelineFixture { request in
      .http(200, ["Cache-Control": "max-age=3600"], request.target == "/plain" ? plain : tagged)
    }
    func image(_ path: String, _ inks: InkProfile? = nil) async throws -> ThumbnailSet {
      let pipeline = fixture.pipeline(change: { $0.inks = inks })
      defer { pipeline.flush() }
      return try await pipeline.thumbnails(for: fixture.request(path))
    }
    let inks = try InkProfile(Self.profile(in: tagged))
    let expected = try await image("/tagged").thumbnails.map(\.bytes)

    for origin in [ThumbnailSet.Origin.network, .disk] {
      let (ideal, printed) = try await (image("/plain"), image("/plain", inks))
      #expect(ideal.origin == origin && printed.origin == origin)
      #expect(ideal.thumbnails.map(\.bytes) != expected)
      #expect(printed.thumbnails.map(\.bytes) == expected)
    }
  }

  private static func picture(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).appending(path: "../../../Fixtures/pictures").standardized
    return try [UInt8](Data(contentsOf: folder.appending(path: name)))
  }

  /// The ICC profile in the only APP2 segment of a JPEG file (ICC.1:2010, B.4).
  private static func profile(in file: [UInt8]) throws -> [UInt8] {
    let name = try #require(Data(file).range(of: Data("ICC_PROFILE\0\u{1}\u{1}".utf8)))
    let length = Int(file[name.lowerBound - 2]) << 8 | Int(file[name.lowerBound - 1])
    return Array(file[name.upperBound..<name.lowerBound - 2 + length])
  }

  @Test func `A credentials file that names other hosts changes no cache key`() async throws {
    let fixture = try fixture()
    _ = try await run(fixture, path: "/public")
    let netrc = "machine elsewhere.example login net password rc"

    #expect(try await run(fixture, netrc: netrc, path: "/public").origin == .disk)
    #expect(try await run(fixture, netrc: "default login net password rc", path: "/public").origin == .network)
  }

  @Test func `An image from a private address is not served under a rule that refuses the address`() async throws {
    let fixture = try fixture()
    func run(
      _ rule: AddressPolicy = .noLinkLocal, _ mode: CacheMode = .normal, own: AddressPolicy? = nil, size: Int = 16
    ) async throws -> ThumbnailSet.Origin {
      let pipeline = fixture.pipeline(
        mode: mode,
        change: {
          $0.downloads.limits.addresses = rule
          $0.cache.originals = .share(percent: 50)
        })
      defer { pipeline.flush() }
      var request = fixture.request("/public", size: size)
      request.options.addresses = own
      return try await pipeline.thumbnails(for: request).origin
    }
    func code(_ mode: CacheMode, size: Int = 16, pipeline: AddressPolicy = .publicOnly, own: AddressPolicy? = nil)
      async -> FailureCode?
    {
      await #expect(throws: FetchFailure.self) { try await run(pipeline, mode, own: own, size: size) }?.code
    }
    let excepted = AddressPolicy.publicOnly(except: [.addresses(try AddressRange("127.0.0.0/8"))])

    #expect(try await run() == .network)
    #expect(await code(.normal) == .blockedAddress)
    #expect(await code(.offline) == .offlineMiss)
    // Neither is a new size made from the kept original.
    #expect(await code(.normal, size: 8) == .blockedAddress)
    #expect(await code(.offline, pipeline: .noLinkLocal, own: .publicOnly) == .offlineMiss)

    #expect(try await run(excepted) == .network)
    #expect(try await run(excepted, .offline) == .disk)
    #expect(try await run(.publicOnly, .offline, own: excepted) == .disk)
    #expect(try await run(.publicOnly, .offline, own: .noLinkLocal) == .disk)
    #expect(try await run(.noLinkLocal, .offline, size: 8) == .disk)
    #expect(await code(.offline) == .offlineMiss)
  }

  @Test func `The text of a cache key contains no secret`() throws {
    let directory = try TemporaryDirectory()
    var configuration = CurlTransport.Configuration.direct
    configuration.netrc = try directory.write("machine h login net password s3cret", as: "netrc")
    let variant = CurlTransport(configuration).variant(of: try SourceURL("https://h/a"))

    #expect(variant.hasPrefix("netrc ") && !variant.contains("s3cret") && !variant.contains("login"))
  }

  static let files: [(text: String, host: String, isNamed: Bool)] = [
    ("machine h login a password b", "h", true), ("machine H\nlogin a\npassword b\n", "h", true),
    ("machine h. login a password b", "h", true), ("machine \"h\" login a password b", "h", true),
    ("machine other login h password h", "h", false), ("machine other login \"a machine h\" password b", "h", false),
    ("machine other login \"a \\\" machine h \" password b", "h", false),
    ("default login a password b", "h", true), ("machine other login a\tpassword b machine h", "h", true),
    ("machine sub.h login a password b", "h", false), ("# nobody", "h", false), ("", "h", false),
    ("machine", "h", false),
    ("machine h password \"open", "h", true),
  ]

  @Test(arguments: files)
  func `The hosts of a credentials file are found as libcurl finds them`(text: String, host: String, isNamed: Bool) {
    #expect((NetrcFile(text).digest(for: host) != nil) == isNamed)
  }

  @Test func `A login or password of the host changes the cache key, and that of another host does not`() {
    func digest(_ login: String, _ password: String, _ other: String = "") -> String? {
      NetrcFile("machine x password \(other)\nmachine h login \(login) password \"\(password)\"").digest(for: "h")
    }
    #expect(digest("a", "b") == digest("a", "b", "c"))
    #expect(Set([digest("a", "b"), digest("a", "c"), digest("b", "b"), digest("a", "b machine h"), nil]).count == 5)
  }

  static let rules: [(hosts: Set<String>, url: String, variant: String)] = [
    ([], "https://h/", ""), (["h"], "https://h/", "insecure h"), (["h"], "https://h:8443/", "insecure h"),
    (["h:8443"], "https://h:8443/", "insecure h:8443"), (["h:8443"], "https://h/", ""),
    (["h", "h:8443"], "https://h:8443/", "insecure h"), (["h"], "https://sub.h/", ""),
    (["[::1]"], "https://[::1]:8443/", "insecure [::1]"), (["h"], "file:///h", ""),
  ]

  @Test(arguments: rules)
  func `Only an unverified host has separate cache keys`(
    hosts: Set<String>, url: String, variant: String
  ) throws {
    var configuration = CurlTransport.Configuration.direct
    configuration.insecureHosts = hosts
    #expect(CurlTransport(configuration).variant(of: try SourceURL(url)) == variant)
  }

  static let redirects: [(hosts: Set<String>, source: String, hop: String, isTrusted: Bool)] = [
    ([], "https://a/", "https://b/", true), (["b"], "https://a/", "https://b/", false),
    (["a"], "https://a/", "https://b/", true), (["a", "b"], "https://a/", "https://b/", false),
    (["a"], "http://a/", "https://a/", true), (["a"], "https://a/", "https://a:8443/", true),
    (["a:8443"], "https://a/", "https://a:8443/", false), (["b"], "http://a/", "http://b/", true),
  ]

  @Test(arguments: redirects)
  func `A redirect to an unverified host is not trusted as a verified source`(
    hosts: Set<String>, source: String, hop: String, isTrusted: Bool
  ) throws {
    var configuration = CurlTransport.Configuration.direct
    configuration.insecureHosts = hosts
    #expect(configuration.trusts(try SourceURL(hop), as: try SourceURL(source)) == isTrusted)
  }

  /// A transport whose variant and cacheability a test sets.
  private struct LabeledTransport: Transport {
    let inner = CurlTransport(.direct)
    var label = ""
    var isCacheable = true

    func variant(of source: SourceURL) -> String { label }

    func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
      inner.start(request, receiver: Relay(receiver, isCacheable: isCacheable))
    }

    private final class Relay: TransferReceiver {
      let receiver: any TransferReceiver
      let isCacheable: Bool

      init(_ receiver: any TransferReceiver, isCacheable: Bool) {
        self.receiver = receiver
        self.isCacheable = isCacheable
      }

      func receive(head: TransferHead) throws(FetchFailure) {
        var head = head
        head.isCacheable = isCacheable
        try receiver.receive(head: head)
      }

      func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) { try receiver.receive(bytes: bytes) }
      func receiveEnd(_ failure: FetchFailure?) { receiver.receiveEnd(failure) }
    }
  }

  private func origin(_ fixture: PipelineFixture, over transport: LabeledTransport) async throws -> ThumbnailSet.Origin
  {
    let pipeline = ThumbnailPipeline(
      .init(cacheDirectory: fixture.directory.path("cache")), transport: transport)
    defer { pipeline.flush() }
    return try await pipeline.thumbnails(for: fixture.request("/public")).origin
  }

  @Test func `The variant of any transport is part of the cache key`() async throws {
    let fixture = try fixture()
    for (label, origin) in [("", "network"), ("x", "network"), ("y", "network"), ("x", "disk"), ("", "disk")] {
      #expect(try await self.origin(fixture, over: LabeledTransport(label: label)).rawValue == origin)
    }
  }

  @Test func `A response that is not cacheable is not in the cache of the next run`() async throws {
    let fixture = try fixture()
    for _ in 0..<2 {
      #expect(try await origin(fixture, over: LabeledTransport(isCacheable: false)) == .network)
    }

    #expect(try await origin(fixture, over: LabeledTransport()) == .network)
    #expect(try await origin(fixture, over: LabeledTransport(isCacheable: false)) == .disk)
  }
}
