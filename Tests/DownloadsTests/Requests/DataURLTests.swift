import TestSupport
import Testing

@testable import Downloads

/// `data:` URLs.
@Suite struct DataURLTests {
  @Test(
    arguments: [
      ("data:image/png;base64,AQID", "image/png", [1, 2, 3]),
      ("DATA:image/png;charset=x; BASE64 ,AQ==", "image/png", [1]),
      ("data:,a%20b", "text/plain", [0x61, 0x20, 0x62]), ("data:;base64,AQI", "text/plain", [1, 2]),
      ("data:image/svg+xml,<a>%23#c", "image/svg+xml", [0x3C, 0x61, 0x3E, 0x23]),
      ("data:image/png;base64, A Q\nI=", "image/png", [1, 2]),
      ("data:a b;base64,", "text/plain", []),
    ] as [(String, String, [UInt8])])
  func `The bytes are those of the URL`(text: String, type: String, bytes: [UInt8]) throws {
    let url = try #require(try DataURL(text))

    #expect(url.mediaType == type && url.bytes == bytes)
    #expect(url.description == "data:\(type),sha256-\(BodyDigest(of: bytes))")
  }

  @Test(arguments: [
    "data:", "data:image/png;base64", "data:;base64,A", "data:;base64,A===", "data:;base64,AQ=", "data:;base64,A*Q=",
  ])
  func `A URL that cannot be read is bad_url`(text: String) {
    #expect(throws: FetchFailure.self) { try SourceURL(text) }
  }

  @Test func `A redirect does not lead to one, and neither does a relative reference`() throws {
    let base = try SourceURL("https://a.example/")
    #expect(throws: FetchFailure.self) { try SourceURL("data:image/png;base64,AQID", relativeTo: base) }
  }

  @Test func `The transport delivers the bytes`() async throws {
    let bytes = [UInt8](repeating: 7, count: 700_000)
    let text = "data:image/png," + bytes.map { _ in "%07" }.joined()
    let downloader = Downloader()

    let download = try await downloader.download(DownloadRequest(url: text))

    #expect(download.body == bytes)
  }
}
