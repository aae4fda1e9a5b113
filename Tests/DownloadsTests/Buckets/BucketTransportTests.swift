import DownloadSupport
import HTTPTypes
import Testing

@testable import Downloads

/// Objects on a server that recomputes the signature of each request.
@Suite(.timeLimit(.minutes(10)), .needs(.s3)) struct BucketTransportTests {
  @Test(arguments: [
    "a.jpg", "folder/a b.jpg", "a+b.jpg", "a%20b.jpg", "q?x=1&y.jpg", "h#f.jpg", "é/日本.jpg", "t~(1)*!'\".jpg",
    "d//e.jpg", "@at:colon\\x.jpg", "a=b;c,d.jpg", "..a/.b",
  ])
  func `Any key can be written and read`(key: String) async throws {
    let bucket = try TestBucket()
    try await bucket.put(key, Array("bytes of \(key)".utf8))
    let download = try await bucket.get(key)
    #expect(download.body == Array("bytes of \(key)".utf8) && download.finalURL == nil)
    #expect(try bucket.log.allSatisfy { $0.hasSuffix(" 200") })
  }

  @Test func `Ranges and conditions are signed, too`() async throws {
    let bucket = try TestBucket()
    try await bucket.put("a", [1, 2, 3])
    let tag = try #require(try await bucket.get("a").response.headerFields[.eTag])
    var request = try DownloadRequest(url: bucket.url("a"))
    request.headerFields[.ifNoneMatch] = tag
    #expect(try await bucket.send(request).response.status == .notModified)
    request.headerFields = [.range: "bytes=0-0"]
    #expect(try await bucket.send(request).body == [1])
  }

  @Test func `Temporary credentials send their token`() async throws {
    let bucket = try TestBucket(changes: [
      "AWS_ACCESS_KEY_ID": "ASIATEMPORARY", "AWS_SECRET_ACCESS_KEY": "temporary/secret+key",
      "AWS_SESSION_TOKEN": "a/token+of==",
    ])
    try await bucket.put("a", [1])
    #expect(try await bucket.get("a").body == [1])
  }

  @Test func `A bucket in another region is found with the second attempt, and then with the first`() async throws {
    let bucket = try TestBucket("abroad")
    let key = "\(UInt64.random(in: 0...UInt64.max))"
    try await bucket.put(key, [1])
    let download = try await bucket.get(key)
    #expect(download.body == [1] && download.attempts == 1)
    let statuses = try bucket.log.filter { $0.contains(key) }.map { $0.split(separator: " ")[2] }
    #expect(statuses == ["400", "200", "200"])
  }

  @Test func `Without a retry, the failure names the region`() async throws {
    let bucket = try TestBucket("abroad")
    var request = try DownloadRequest(url: bucket.url("x"))
    request.retry = RetryPolicy(limit: 0)
    let failure = await #expect(throws: FetchFailure.self) { try await bucket.send(request) }
    #expect(failure?.code == .wrongRegion && failure?.message.contains("test-region-2; set AWS_REGION") == true)
  }

  @Test func `A server that is busy gets the request again`() async throws {
    let bucket = try TestBucket("limited")
    let key = "\(UInt64.random(in: 0...UInt64.max))"
    try await bucket.put(key, [1])
    #expect(try await bucket.get(key).body == [1])
  }

  @Test func `Without a key, public objects can be read, and the failure of others says why`() async throws {
    let changes = ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]
    let bucket = try TestBucket("public", changes: changes)
    let key = "\(UInt64.random(in: 0...UInt64.max))"
    try await bucket.put(key, [1])
    #expect(try await bucket.get(key).body == [1])
    let other = try TestBucket(changes: changes)
    let failure = await #expect(throws: FetchFailure.self) { try await other.get("a") }
    #expect(failure?.code == .http(403) && failure?.message.contains("AWS_PROFILE") == true)
  }

  @Test func `A wrong key is refused, and a header field of the user does not replace the signature`() async throws {
    let wrong = try TestBucket(changes: ["AWS_SECRET_ACCESS_KEY": "wrong"])
    let failure = await #expect(throws: FetchFailure.self) { try await wrong.get("a") }
    #expect(failure?.code == .http(403))
    let bucket = try TestBucket()
    try await bucket.put("a", [1])
    var request = try DownloadRequest(url: bucket.url("a"))
    request.headerFields[.authorization] = "Bearer of other hosts"
    #expect(try await bucket.send(request).body == [1])
  }

  @Test func `Without access, a bucket is blocked`() async throws {
    let failure = await #expect(throws: FetchFailure.self) { try await Downloader().download("s3://bucket/a.jpg") }
    #expect(failure?.code == .blockedScheme)
  }

  @Test func `Another key or server has other cache entries`() throws {
    func variant(_ environment: [String: String]) throws -> String {
      let access = BucketAccess(environment: environment)
      return try BucketTransport(access, over: CurlTransport(.direct)).variant(of: SourceURL("s3://b/a"))
    }
    let usual = try TestBucket().environment
    let others = ["AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL"].map { name in
      usual.merging([name: name == "AWS_ENDPOINT_URL" ? "http://other.example" : "OTHER"]) { $1 }
    }
    let variants = try ([usual] + others + [[:]]).map(variant)
    #expect(Set(variants).count == 4 && variants.allSatisfy { !$0.isEmpty && !$0.contains("AKIDPERMANENT") })
  }
}
