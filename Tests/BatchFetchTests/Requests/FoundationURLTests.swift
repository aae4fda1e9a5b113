import BatchFetch
import Foundation
import HTTPTypes
import ImageCache
import Testing

/// Requests from strings, literals and Foundation's URLs.
@Suite struct FoundationURLTests {
  private let text = "https://a.test/b%20c?d"

  @Test func `A URL of Foundation is the same source as its text`() throws {
    let url = try #require(URL(string: text))

    #expect(try SourceURL(url) == SourceURL(text))
    #expect(try DownloadRequest(url: url).source == DownloadRequest(url: text).source)
    #expect(ThumbnailRequest(url: url, size: 8).url == text)
    #expect(ThumbnailRequest(url: url, specs: [ThumbnailSpec(width: 8)]).url == text)
    #expect(try SourceURL(URL(filePath: "/a b")).description == "file:///a%20b")
  }

  @Test(arguments: ["/a", "mailto:a@b.test"]) func `A URL that cannot be fetched is rejected`(text: String) throws {
    let url = try #require(URL(string: text))

    #expect(throws: FetchFailure.self) { try SourceURL(url) }
    #expect(throws: FetchFailure.self) { try DownloadRequest(url: url) }
    #expect(throws: FetchFailure.self) { try DownloadRequest(url: text) }
  }

  @Test func `String literals are URLs wherever a string is one`() throws {
    #expect(try SourceURL("https://a.test/").host == "a.test")
    #expect(try DownloadRequest(url: "https://a.test/").source.host == "a.test")
    #expect(ThumbnailRequest(url: "https://a.test/", size: 8).specs == [ThumbnailSpec(width: 8)])
    #expect(ThumbnailRequest(url: "https://a.test/", specs: []).specs.isEmpty)
  }

  @Test func `The short initializers take header fields and a priority`() throws {
    let fields: HTTPFields = [.referer: "https://a.test/"]
    let short = ThumbnailRequest(url: text, size: 8, headerFields: fields, priority: .high)
    let download = try DownloadRequest(url: text, headerFields: fields, priority: .low)

    #expect(short.headerFields == fields && short.priority == .high)
    #expect(download.headerFields == fields && download.priority == .low)
  }
}
