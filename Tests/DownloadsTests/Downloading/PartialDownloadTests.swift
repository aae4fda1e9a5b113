import HTTPTypes
import Testing

@testable import Downloads

@Suite struct PartialDownloadTests {
  private func head(_ status: Int, _ fields: HTTPFields, finalURL: String? = nil) -> TransferHead {
    TransferHead(response: HTTPResponse(status: .init(code: status), headerFields: fields), finalURL: finalURL)
  }

  // RFC 9110, section 8.8.2.2: a modification date is a strong validator only if the response is clearly newer.
  private let changed = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test func `The rest is requested with a strong tag, or else with a strong date`() {
    let tagged = PartialDownload.sample(count: 5, fields: [.eTag: "\"a b\"", .lastModified: changed])
    #expect(tagged?.requestFields == [.range: "bytes=5-", .ifRange: "\"a b\""])

    let dated = PartialDownload.sample(
      count: 5, fields: [.lastModified: changed, .date: "Sun, 06 Nov 1994 08:50:37 GMT"])
    #expect(dated?.requestFields == [.range: "bytes=5-", .ifRange: changed])
  }

  @Test(
    arguments: [
      [:], [.eTag: "W/\"1\""], [.eTag: "1"], [.eTag: "\""],
      [.eTag: "\"" + String(repeating: "a", count: 1023) + "\""],
      [.eTag: "W/\"1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 09:49:37 GMT"],
      [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
      [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT"],
      [.lastModified: "yesterday", .date: "Sun, 06 Nov 1994 09:49:37 GMT"],
      [.eTag: "\"1\"", .contentEncoding: "gzip"], [.eTag: "\"1\"", .acceptRanges: "none"],
      [.eTag: "\"1\"", .contentLength: "5"],
    ] as [HTTPFields])
  func `The rest of a body that is coded, complete or without a strong validator is not requested`(fields: HTTPFields) {
    #expect(PartialDownload.sample(count: 5, fields: fields) == nil)
  }

  @Test func `A download without bytes, or with another status than 200, is not kept`() {
    #expect(PartialDownload.sample(count: 0) == nil)
    #expect(PartialDownload(head: head(404, [.eTag: "\"1\""]), body: ReceivedBody([1])) == nil)
  }

  @Test func `A 206 with the missing bytes continues the body, and the header fields are merged`() throws {
    let partial = try #require(
      PartialDownload.sample(count: 5, fields: [.eTag: "\"1\"", .contentLength: "100", .contentType: "image/png"]))
    let response = head(206, [.contentRange: "bytes 5-99/100", .contentLength: "95", .age: "3"])
    let whole = try #require(partial.continuation(by: response))

    #expect(whole.end == 100 && whole.total == 100)
    #expect(whole.head.response.status == .ok)
    #expect(
      whole.head.response.headerFields == [
        .eTag: "\"1\"", .contentType: "image/png", .age: "3", .contentLength: "100",
      ])
  }

  @Test func `The total length may be known from either response, from both, or from neither`() {
    let unknown = PartialDownload.sample(count: 5, fields: [.eTag: "\"1\""])

    #expect(unknown?.continuation(by: head(206, [.contentRange: "bytes 5-99/*"]))?.total == 100)
    #expect(unknown?.continuation(by: head(206, [.contentRange: "bytes 5-9/100"]))?.total == 100)
    #expect(PartialDownload.sample(count: 5)?.continuation(by: head(206, [.contentRange: "bytes 5-9/*"]))?.total == 100)
  }

  @Test(
    arguments: [
      [:], [.contentRange: "bytes 0-99/100"], [.contentRange: "bytes 4-99/100"], [.contentRange: "bytes 6-99/100"],
      [.contentRange: "bytes 5-98/99"], [.contentRange: "bytes */100"], [.contentRange: "lines 5-99/100"],
      [.contentRange: "bytes 5-99/100", .contentLength: "94"], [.contentRange: "bytes 5-99/100", .eTag: "\"2\""],
      [.contentRange: "bytes 5-99/100", .eTag: "W/\"1\""], [.contentRange: "bytes 5-99/100", .contentEncoding: "gzip"],
      [.contentType: "multipart/byteranges; boundary=x"],
    ] as [HTTPFields])
  func `A 206 that does not continue the body is refused`(fields: HTTPFields) {
    #expect(PartialDownload.sample(count: 5)?.continuation(by: head(206, fields)) == nil)
  }

  @Test func `A 206 from another URL or with another modification date is refused`() {
    let fields: HTTPFields = [.contentRange: "bytes 5-99/100"]
    let partial = PartialDownload.sample(count: 5, finalURL: "http://a.test/1")
    #expect(partial?.continuation(by: head(206, fields, finalURL: "http://a.test/1")) != nil)
    #expect(partial?.continuation(by: head(206, fields, finalURL: "http://b.test/1")) == nil)

    let dated = PartialDownload.sample(
      count: 5, fields: [.lastModified: changed, .date: "Sun, 06 Nov 1994 08:50:37 GMT"])
    let other: HTTPFields = [.contentRange: "bytes 5-99/100", .lastModified: "Sun, 06 Nov 1994 08:49:38 GMT"]
    #expect(dated?.continuation(by: head(206, fields)) != nil)
    #expect(dated?.continuation(by: head(206, other)) == nil)
  }

  @Test(arguments: [
    "bytes 5-4/10", "bytes 5-10/10", "bytes 5-9", "bytes -9/10", "bytes 5-/10", "bytes +5-9/10", "bytes 5-9/", "",
    "5-9/10", "bytes 5-9/10/11", "bytes 5-99999999999999999999/*",
  ])
  func `A malformed Content-Range is ignored`(value: String) {
    #expect(ContentRange(value) == nil)
  }
}
