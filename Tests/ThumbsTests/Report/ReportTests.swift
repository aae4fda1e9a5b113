import Foundation
import Glibc
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import thumbs

private func set(
  origin: ThumbnailSet.Origin = .network, finalURL: String? = nil, warnings: [String] = []
) -> ThumbnailSet {
  ThumbnailSet(
    origin: origin,
    thumbnails: [
      Thumbnail(
        spec: ThumbnailSpec(width: 256), size: PixelSize(width: 256, height: 192), format: .jpeg, bytes: [1, 2, 3])
    ],
    source: SourceImage(size: PixelSize(width: 1280, height: 960), format: .jpeg), sourceBytes: 144_308,
    httpStatus: origin == .network ? 200 : nil, finalURL: finalURL, attempts: 1,
    timings: Timings(queued: .microseconds(600), download: .milliseconds(12), render: .microseconds(4499)),
    warnings: warnings)
}

private func line(_ set: ThumbnailSet, name: String? = "Mail") -> ReportLine {
  ReportLine(
    ManifestRow(index: 0, line: nil, name: name, url: "http://a/a.png"),
    .done(set, set.thumbnails.map { ReportLine.Output($0, path: "a.jpg") }))
}

private func text(_ line: ReportLine) -> String { String(decoding: line.json, as: UTF8.self) }

private func parsed(_ line: ReportLine) throws -> [String: Any] {
  let json = line.json
  #expect(json.last == 0x0A && !json.dropLast().contains(0x0A))
  return try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
}

@Suite struct ReportLineTests {
  @Test func `A finished row has the documented fields in the documented order`() {
    let expected = """
      {"index":0,"name":"Mail","url":"http://a/a.png","status":"ok","origin":"network","outputs":[{"spec":"256x256",\
      "path":"a.jpg","width":256,"height":192,"format":"jpeg","bytes":3}],"source":{"width":1280,"height":960,\
      "format":"jpeg","bytes":144308},"http":200,"finalURL":"http://b/a.png","attempts":1,\
      "ms":{"queued":1,"download":12,"render":4},"warnings":["odd","odder"]}

      """

    #expect(text(line(set(finalURL: "http://b/a.png", warnings: ["odd", "odder"]))) == expected)
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
    let cached = try parsed(line(set(origin: .memory), name: nil))

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
    let name = try parsed(line(set(warnings: [string]), name: string))

    #expect((name["name"] as? String).map { Array($0.utf8) } == Array(string.utf8))
    #expect((name["warnings"] as? [String]).map { Array($0[0].utf8) } == Array(string.utf8))
  }

  @Test(
    arguments: [
      ("https://user:secret@h/a.png", "https://***@h/a.png"), ("https://secret@h", "https://***@h"),
      ("http://u:secret@x@h/a?b=c@d", "http://***@d"), ("user:secret@h/a.png", "***@h/a.png"),
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
    #expect(!text(ReportLine(row, .done(set(finalURL: url), []))).contains("secret"))
  }

  @Test func `The URL of a redirect in a message is redacted`() {
    #expect(
      Redaction.message("Redirected to \"http://u:p@b/x\" and http://c/y@z.", about: ["http://a@b/"])
        == "Redirected to \"http://***@b/x\" and http://c/y@z.")
  }
}

@Suite struct ReportWriterTests {
  @Test func `The old report is discarded when the run begins, and each line is in the file as soon as it is written`()
    throws
  {
    let root = try TemporaryDirectory()
    let path = try root.write("old\n", as: "report.jsonl")
    let writer = ReportWriter(try NamedFile(path: path))

    #expect(try String(contentsOfFile: path, encoding: .utf8) == "old\n")

    writer.begin()
    for count in 1...3 {
      try writer.append(line(set()), position: 0)
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      #expect(lines.count == count)
      #expect(lines.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) != nil })
    }

    try writer.finish(.complete)
    #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 3)

    try writer.finish(.partial(rows: 3))
    #expect(
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").last?.contains("\"items\":3") == true)
  }

  @Test func `After a closed pipe, every write throws the same error`() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    let writer = ReportWriter(NamedFile(descriptor: ends[1], name: "standard output"))

    for _ in 0..<2 {
      let error = #expect(throws: OutputError.self) { try writer.append(line(set()), position: 0) }
      #expect(error?.isBrokenPipe == true)
      #expect(error?.description == "Cannot write standard output: Broken pipe.")
    }
  }

  @Test func `A full disk is a fatal error`() throws {
    let writer = ReportWriter(try NamedFile(path: "/dev/full"))

    let error = #expect(throws: OutputError.self) { try writer.append(line(set()), position: 0) }
    #expect(error?.isFatal == true)
  }

  @Test func `A report that cannot be created is an error that names the file`() throws {
    let error = #expect(throws: OutputError.self) { try NamedFile(path: "/nowhere/report.jsonl") }

    #expect(error?.description == "Cannot create /nowhere/report.jsonl: No such file or directory.")
  }
}

@Suite struct SummaryTests {
  private func summary(_ codes: [FailureCode], done: Int = 0) -> Summary {
    var summary = Summary()
    let row = ManifestRow(index: 0, line: nil, name: nil, url: "u")
    for code in codes { summary.count(ReportLine(row, .failed(FetchFailure(code, "")))) }
    for _ in 0..<done { summary.count(line(set())) }
    return summary
  }

  @Test(
    arguments: [
      ([], 0), ([.cancelled], 0), ([.http(404)], 1), ([.timeoutTotal], 75), ([.http(404), .http(503), .badURL], 75),
    ] as [([FailureCode], Int32)])
  func `The exit code is 75 if a failure is worth retrying, and 1 for other failures`(
    codes: [FailureCode], expected: Int32
  ) {
    #expect(summary(codes, done: 1).exitCode == expected)
  }

  @Test func `The text counts origins and failure codes, most frequent first`() {
    let text = summary([.http(404), .tls, .http(404), .stalled, .cancelled], done: 2).text(
      after: .milliseconds(1250), downloaded: ByteSize(count: 288_666))

    #expect(
      text == """
        7 items: 2 ok, 4 failed, 1 cancelled in 1.3 s; 281.9 KiB downloaded
          ok: 2 network
          failed: 2 http_404, 1 stalled*, 1 tls
          (* worth retrying)
        """)
  }

  private func row(_ host: String, _ outcome: ReportLine.Outcome) -> ReportLine {
    ReportLine(ManifestRow(index: 0, line: nil, name: nil, url: "http://\(host)/a.png"), outcome)
  }

  /// A summary with a slow host, a failing host and an image from the cache.
  private var mixed: Summary {
    var summary = Summary()
    var slow = set()
    slow.timings.download = .milliseconds(300)
    summary.count(row("slow", .done(slow, [])))
    slow.timings.download = .milliseconds(500)
    summary.count(row("slow", .done(slow, [])))
    var kept = ReportLine.Output(set().thumbnails[0], path: "a.jpg")
    kept.outcome = .unchanged
    summary.count(row("bad", .done(set(origin: .disk), [kept])))
    summary.count(row("bad", .failed(FetchFailure(.http(503), ""))))
    summary.count(row("bad", .failed(.cancelled)))
    return summary
  }

  @Test func `With several hosts, the text lists slow and failing ones, and the bytes saved by the cache`() {
    #expect(
      mixed.text(after: .seconds(2), downloaded: ByteSize(count: 0)) == """
        5 items: 3 ok, 1 failed, 1 cancelled in 2.0 s; 0 B downloaded
          ok: 2 network, 1 disk
          failed: 1 http_503*
          (* worth retrying)
          saved by the cache: 140.9 KiB
          slowest hosts: slow 0.4 s
          most failures: bad 1 of 2
        """)
  }

  @Test func `The JSON summary has the documented members in the documented order`() {
    let hosts = (
      slow: #"{"host":"slow","downloads":2,"mean":400,"items":2,"failed":0}"#,
      bad: #"{"host":"bad","downloads":0,"mean":0,"items":2,"failed":1}"#
    )
    let expected =
      #"{"version":1,"exit":75,"complete":true,"elapsed":2000,"items":{"total":5,"ok":3,"failed":1,"cancelled":1},"#
      + #""files":{"written":0,"unchanged":1},"bytes":{"downloaded":7,"saved":144308},"#
      + #""origins":[{"origin":"network","items":2},{"origin":"disk","items":1}],"#
      + #""failures":[{"code":"http_503","items":1,"retryable":true}],"#
      + #""hosts":{"count":2,"unlistedItems":0,"slowest":[\#(hosts.slow)],"failing":[\#(hosts.bad)]}}"# + "\n"
    let json = mixed.json(.finished(mixed), .complete, after: .seconds(2), downloaded: ByteSize(count: 7))

    #expect(String(decoding: json, as: UTF8.self) == expected)
  }

  @Test func `Hosts beyond the limit are counted but not listed`() {
    var tally = HostTally()
    for number in 0..<(HostTally.limit + 5) { tally.count(row("h\(number)", .failed(FetchFailure(.tls, "")))) }
    tally.count(row("h0", .failed(FetchFailure(.tls, ""))))

    #expect(tally.hosts.count == HostTally.limit && tally.unlistedRows == 5)
    #expect(tally.mostFailing(1).map(\.name) == ["h0"])
  }
}
