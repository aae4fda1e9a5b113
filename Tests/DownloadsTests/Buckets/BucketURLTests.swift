import HTTPTypes
import Testing

@testable import Downloads

@Suite struct BucketURLTests {
  @Test(arguments: [
    ("s3://b/a.jpg", "b", "a.jpg"), ("S3://my.bucket-1/folder/a b.jpg", "my.bucket-1", "folder/a b.jpg"),
    ("s3://b/a%20b?x=1#y.jpg", "b", "a%20b?x=1#y.jpg"), ("gs://b_1/é/日本", "b_1", "é/日本"), ("s3://b", "b", ""),
    ("s3://b/", "b", ""), ("s3://b/folder/", "b", "folder/"), ("s3://b//a", "b", "/a"), ("s3://b/a..b", "b", "a..b"),
    ("s3://b/a@b:c\\d", "b", "a@b:c\\d"),
  ])
  func `A key is what stands behind the bucket, as it is written`(text: String, bucket: String, key: String) throws {
    let url = try #require(try BucketURL(text))
    #expect(url.bucket == bucket && url.key == key)
    // Reports name a source by its description, and a retry reads it again.
    let source = try SourceURL(text)
    #expect(source.host == bucket && source.scheme == url.scheme)
    #expect(try SourceURL(source.description) == source && BucketURL(source.description) == url)
  }

  @Test(arguments: [
    "s3://", "s3:///a.jpg", "s3://b c/a.jpg", "s3://user:pw@b/a.jpg", "s3://b:9000/a.jpg", "s3://../a.jpg",
    "s3://b/../a.jpg", "s3://b/./a.jpg", "s3://b/a/..", "s3://b/a\u{0}.jpg", "s3://b/a\r\nX: y",
    "s3://b/" + String(repeating: "a", count: 1025), "gs://" + String(repeating: "b", count: 223) + "/a",
  ])
  func `What no request can name is an invalid URL`(text: String) {
    let failure = #expect(throws: FetchFailure.self) { try SourceURL(text) }
    #expect(failure?.code == .badURL && failure?.message.contains("user:pw") == false)
  }

  @Test(arguments: ["https://a.example/", "/x", "s3", "sftp://a", "s3:/b/a", "gs:b", ""])
  func `Other texts are not of a bucket`(text: String) throws { #expect(try BucketURL(text) == nil) }

  @Test func `Keys are encoded as signatures demand it`() throws {
    let url = try #require(try BucketURL("s3://b/a b+c%20d?e=f&g#h/é~(1)*'\"!.jpg"))
    #expect(url.path == "/b/a%20b%2Bc%2520d%3Fe%3Df%26g%23h/%C3%A9~%281%29%2A%27%22%21.jpg")
    #expect(BucketURL.parameter("a/b c+d=") == "a%2Fb%20c%2Bd%3D")
  }

  @Test func `Neither a relative reference nor a redirect leads into a bucket`() throws {
    let page = try SourceURL("https://a.example/page")
    for text in ["s3://b/a.jpg", "gs://b/a.jpg", "S3://b/a.jpg"] {
      let failure = #expect(throws: FetchFailure.self) { try SourceURL(text, relativeTo: page) }
      #expect(failure?.code == .blockedScheme)
      var chain = RedirectChain(from: page, limit: 5)
      let redirect = #expect(throws: FetchFailure.self) {
        try chain.follow(Array(text.utf8), in: .init(status: .found))
      }
      #expect(redirect?.code == .blockedScheme)
    }
  }

  @Test func `A redirect of a bucket is not followed`() throws {
    var chain = RedirectChain(from: try SourceURL("s3://b/a.jpg"), limit: 5)
    let failure = #expect(throws: FetchFailure.self) {
      try chain.follow(Array("https://a.example/".utf8), in: .init(status: .found))
    }
    #expect(failure?.code == .blockedScheme)
  }
}
