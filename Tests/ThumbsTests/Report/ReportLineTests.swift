import Foundation
import HTTPTypes
import Testing

@testable import BatchFetch
@testable import thumbs

private func text(_ line: ReportLine) -> String { String(decoding: line.json, as: UTF8.self) }

private func parsed(_ line: ReportLine) throws -> [String: Any] {
  let json = line.json
  #expect(json.last == 0x0A && !json.dropLast().contains(0x0A))
  return try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
}

@Suite struct ReportLineTests {
  @Test func `The hops of a redirected row are listed without secrets, whether it succeeds or fails`() {
    let redirects = [
      Redirect(url: "http://user:secret@a/1", response: HTTPResponse(status: .found)),
      Redirect(url: "http://b/2", response: HTTPResponse(status: .permanentRedirect)),
    ]
    var set = ThumbnailSet.sample()
    set.redirects = redirects
    var failure = FetchFailure(.http(404), "Gone.")
    failure.head = TransferHead(response: HTTPResponse(status: .notFound), redirects: redirects)
    let row = ManifestRow(index: 0, url: "http://a/1")

    for line in [ReportLine(row, .done(set, [])), ReportLine(row, .failed(failure))] {
      let text = text(line)
      let hops = #","hops":[{"url":"http://***@a/1","http":302},{"url":"http://b/2","http":308}],"#
      #expect(text.contains(hops), "\(text)")
    }
  }

  @Test func `A failure names the time before which the host wants no request`() {
    var failure = FetchFailure(.hostUnavailable, "Busy.")
    failure.retryAt = Date(timeIntervalSince1970: 1_800_000_000)

    let text = text(ReportLine(ManifestRow(index: 0, url: "http://a/1"), .failed(failure)))

    #expect(text.contains(#","retryAt":"2027-01-15T08:00:00Z","#), "\(text)")
  }

  @Test func `A finished row has the documented fields in the documented order`() {
    let expected = """
      {"index":0,"name":"Mail","url":"http://a/a.png","status":"ok","origin":"network","outputs":[{"spec":"256x256",\
      "path":"a.jpg","width":256,"height":192,"format":"jpeg","bytes":3}],"source":{"width":1280,"height":960,\
      "format":"jpeg","bytes":144308,"sha256":\
      "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"},"http":200,\
      "finalURL":"http://b/a.png","attempts":1,\
      "ms":{"queued":1,"download":12,"render":4},"warnings":["odd","odder"]}

      """

    #expect(text(ReportLine.sample(.sample(finalURL: "http://b/a.png", warnings: ["odd", "odder"]))) == expected)
  }

  @Test func `A failed row has the documented fields in the documented order`() {
    let row = ManifestRow(index: 1, line: 7, name: nil, url: "http://a/b.png")
    let failure = FetchFailure(.http(404), "Not found.", httpStatus: 404, attempts: 1)
    let expected = """
      {"index":1,"url":"http://a/b.png","status":"failed","code":"http_404","retryable":false,"http":404,\
      "attempts":1,"message":"Not found.","line":7}

      """

    #expect(text(ReportLine(row, .failed(failure))) == expected)
  }

  @Test func `Unknown values are omitted from the report`() throws {
    let cached = try parsed(ReportLine.sample(.sample(origin: .memory), name: nil))

    #expect(cached["http"] == nil && cached["finalURL"] == nil && cached["name"] == nil && cached["line"] == nil)
  }

  @Test func `The report line of a bad row has the reason`() throws {
    let bad = try parsed(ReportLine(BadRow(index: 3, line: 9, name: "x", reason: "list, line 9: no URL.")))

    #expect(bad["code"] as? String == "bad_row" && bad["url"] == nil && bad["line"] as? Int == 9)
    #expect(bad["message"] as? String == "list, line 9: no URL.")
  }

  @Test func `A canceled row has the status cancelled`() throws {
    let row = ManifestRow(index: 1, line: nil, name: nil, url: "u")

    #expect(try parsed(ReportLine(row, .failed(.cancelled)))["status"] as? String == "cancelled")
  }

  @Test(
    arguments: [
      "\"\\/\u{8}\u{C}\n\r\t", (0..<0x80).map { String(Unicode.Scalar($0)) }.joined(), "\u{2028}\u{2029}\u{7F}\u{85}",
      "\u{1F469}\u{200D}\u{1F680} é e\u{301} \u{10FFFF} \u{FFFF} \u{0}", "</script>", "\\u0041\\n", "",
    ])
  func `An independent JSON parser reads back every string`(string: String) throws {
    let name = try parsed(ReportLine.sample(.sample(warnings: [string]), name: string))

    #expect((name["name"] as? String).map { Array($0.utf8) } == Array(string.utf8))
    #expect((name["warnings"] as? [String]).map { Array($0[0].utf8) } == Array(string.utf8))
  }

  @Test(
    arguments: [
      ("https://user:secret@h/a.png", "https://***@h/a.png"), ("https://secret@h", "https://***@h"),
      ("http://u:secret@x@h/a?b=c@d", "http://***@h/a?b=c@d"), ("user:secret@h/a.png", "***@h/a.png"),
      ("http://proxy/http://u:secret@h/a", "http://proxy/http://***@h/a"), ("http://h/a@b.png", "http://h/a@b.png"),
      ("http://u:secret part@h/", "http://***@h/"), ("http://h/a.png", "http://h/a.png"),
      ("http://secret@", "http://***@"),
      ("http://u:secret@h#f@g", "http://***@h#f@g"),
    ])
  func `A report line never contains credentials`(url: String, expected: String) throws {
    #expect(Redaction.url(url) == expected)

    let failure = FetchFailure(.connectFailed, "No connection to \(url) (see mail to joe@example.com).")
    let row = ManifestRow(index: 0, line: nil, name: nil, url: url)
    let line = ReportLine(row, .failed(failure))

    #expect(!text(line).contains("secret"))
    #expect(try parsed(line)["message"] as? String == "No connection to \(expected) (see mail to joe@example.com).")
    #expect(!text(ReportLine(row, .done(.sample(finalURL: url), []))).contains("secret"))
  }

  @Test func `The URL of a redirect in a message is redacted`() {
    #expect(
      Redaction.message("Redirected to \"http://u:p@b/x\" and http://c/y@z.", about: ["http://a@b/"])
        == "Redirected to \"http://***@b/x\" and http://c/y@z.")
  }
}
