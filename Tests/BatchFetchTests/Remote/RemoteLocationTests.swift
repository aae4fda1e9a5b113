import HTTPTypes
import Testing

@testable import BatchFetch
@testable import Downloads

@Suite struct RemoteLocationTests {
  private static let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]

  private static func location(_ url: String, _ environment: [String: String] = keys) throws -> RemoteLocation {
    try RemoteLocation(url, environment: environment)
  }

  @Test(arguments: [
    ("http://cache.example", "http://cache.example/s/0"), ("http://cache.example/", "http://cache.example/s/0"),
    ("https://cache.example:8443/a/b", "https://cache.example:8443/a/b/s/0"),
    ("HTTPS://cache.example/a/", "https://cache.example/a/s/0"),
    ("s3://bucket", "https://s3.us-east-1.amazonaws.com/bucket/s/0"),
    ("s3://bucket/a/b/?region=eu-west-1", "https://s3.eu-west-1.amazonaws.com/bucket/a/b/s/0"),
    ("s3://b/p?endpoint=http://127.0.0.1:9000", "http://127.0.0.1:9000/b/p/s/0"),
    ("s3://b?endpoint=https%3A%2F%2Fminio.example&region=x", "https://minio.example/b/s/0"),
  ])
  func `The URL of an object is that of the cache with the name of the object`(url: String, object: String) throws {
    let request = try Self.location(url).get("s/0", limits: TransferLimits())
    #expect(request.source.description == object && request.upload == nil)
  }

  @Test(arguments: [
    "", "cache.example", "ftp://cache.example/", "file:///tmp", "http://", "http://cache.example/?a=b", "s3://",
    "s3:///prefix", "s3://bucket//a", "s3://bucket/../a", "s3://bucket/a b", "s3://bucket/a%20b", "s3://bucket/ä",
    "s3://bucket?x=y", "s3://bucket?endpoint", "s3://bucket?endpoint=ftp://a.example",
    "s3://bucket?endpoint=http://a.example/path", "s3://bucket?endpoint=http://user:pw@a.example",
    "s3://bucket?region=a:b", "s3://bucket?region=a/b",
  ])
  func `Any other URL is an error`(url: String) {
    #expect(throws: FetchFailure.self) { try Self.location(url) }
  }

  @Test func `The credentials of the URL are those of its requests, and are not in the prefix`() throws {
    let location = try Self.location("https://user:pass@cache.example/a")
    #expect(try location.get("s/0", limits: TransferLimits()).source.credentials == "user:pass")
    #expect(location.prefix == "https://cache.example/a/")
  }

  @Test func `No message about a URL contains its password`() {
    for url in ["http://user:hunter2@cache.example/?q", "http://user:hunter2@", "user:hunter2@cache.example"] {
      let failure = #expect(throws: FetchFailure.self) { try Self.location(url) }
      #expect(failure?.message.contains("hunter2") == false)
    }
  }

  @Test func `Requests to S3 have the digest of the body and the token as header fields to be signed`() throws {
    let location = try Self.location("s3://bucket", Self.keys.merging(["AWS_SESSION_TOKEN": "token"]) { $1 })
    let get = try location.get("s/0", limits: TransferLimits())
    #expect(get.signature == RequestSignature(region: "us-east-1", accessKey: "id", secretKey: "secret"))
    #expect(get.headerFields[.init("x-amz-security-token")!] == "token")
    // The digests of nothing and of "abc" (FIPS 180-4).
    let digest = HTTPField.Name("x-amz-content-sha256")!
    #expect(get.headerFields[digest] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    let put = try location.put(Array("abc".utf8), as: "s/0", .absent, limits: TransferLimits())
    #expect(put.headerFields[digest] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(put.headerFields[.ifNoneMatch] == "*" && put.upload == Array("abc".utf8))
    #expect(try location.put([], as: "s/0", .always, limits: TransferLimits()).headerFields[.ifNoneMatch] == nil)
  }

  @Test func `The environment gives the endpoint and the region, and the URL takes precedence`() throws {
    let environment = Self.keys.merging(["AWS_ENDPOINT_URL": "http://env.example", "AWS_REGION": "north"]) { $1 }
    #expect(try Self.location("s3://b", environment).prefix == "http://env.example/b/")
    #expect(try Self.location("s3://b", environment).signer?.region == "north")
    let url = "s3://b?endpoint=http://url.example&region=south"
    #expect(try Self.location(url, environment).prefix == "http://url.example/b/")
    #expect(try Self.location(url, environment).signer?.region == "south")
  }

  @Test func `S3 without a key in the environment is an error`() {
    for name in Self.keys.keys {
      #expect(throws: FetchFailure.self) { try Self.location("s3://b", Self.keys.filter { $0.key != name }) }
    }
  }

  @Test func `A key of fewer than 16 bytes is refused`() {
    #expect(RemoteCache.Secret([UInt8](repeating: 1, count: 15)) == nil)
    #expect(RemoteCache.Secret([UInt8](repeating: 1, count: 16)) != nil)
  }
}
