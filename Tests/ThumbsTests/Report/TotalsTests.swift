import Foundation
import TestSupport
import Testing

@testable import thumbs

private func row(_ json: String) throws -> ReportRow {
  try #require(ReportRow(try JSONDocument.parse(Array(json.utf8))))
}

private func ok(_ index: Int, _ host: String, milliseconds: Int, origin: String = "network") throws -> ReportRow {
  try row(
    #"{"index":\#(index),"url":"http://\#(host)/\#(index)","status":"ok","origin":"\#(origin)","#
      + #""outputs":[{"bytes":10},{"bytes":5}],"source":{"bytes":100},"ms":{"download":\#(milliseconds)}}"#)
}

private func failed(_ code: String, host: String, isRetryable: Bool) throws -> ReportRow {
  try row(
    #"{"index":9,"url":"http://\#(host)/x","status":"failed","code":"\#(code)","retryable":\#(isRetryable)}"#)
}

@Suite struct TotalsTests {
  private func totals() throws -> Totals {
    var totals = Totals()
    totals.count(try ok(0, "a", milliseconds: 200))
    totals.count(try ok(1, "b", milliseconds: 400))
    totals.count(try ok(2, "b", milliseconds: 9000, origin: "disk"))
    totals.count(try failed("http_404", host: "b", isRetryable: false))
    totals.count(try failed("http_503", host: "b", isRetryable: true))
    totals.count(try row(#"{"index":7,"status":"cancelled"}"#))
    return totals
  }

  @Test func `The text has counts, codes, hosts and the slowest downloads`() throws {
    #expect(
      try totals().text(isPartial: true) == """
        6 items: 3 ok, 2 failed, 1 canceled; 6 files, 45 B
          the report does not prove that it contains every row of its run
          ok: 2 network, 1 disk
          failed: 1 http_404, 1 http_503*
          (* worth retrying)
          slowest hosts: b 0.4 s, a 0.2 s
          most failures: b 2 of 4
          slowest: http://b/1 0.4 s, http://a/0 0.2 s
        """)
  }

  @Test func `The JSON form has the same numbers`() throws {
    let json = try JSONSerialization.jsonObject(with: Data(totals().json(isPartial: false))) as? [String: Any]
    #expect(json?["complete"] as? Bool == true)
    #expect(json?["items"] as? [String: Int] == ["total": 6, "ok": 3, "failed": 2, "cancelled": 1])
    #expect(json?["bytes"] as? [String: Int] == ["files": 45, "images": 300])
    #expect(json?["files"] as? [String: Int] == ["count": 6, "fallbacks": 0])
    let slowest = json?["slowest"] as? [[String: Any]]
    #expect(slowest?.compactMap { $0["download"] as? Int } == [400, 200])
    let failures = json?["failures"] as? [[String: Any]]
    #expect(failures?.compactMap { $0["retryable"] as? Bool } == [false, true])
  }

  @Test func `The slowest ten rows are kept in order, and codes beyond a limit are counted together`() throws {
    var totals = Totals()
    for number in 0..<1000 {
      totals.count(try ok(number, "a", milliseconds: number * 617 % 1000))
      totals.count(try failed("code_\(number)", host: "h", isRetryable: false))
    }
    #expect(totals.slowest.map { $0.download / .milliseconds(1) } == (990..<1000).reversed().map(Double.init))
    #expect(totals.failures.count <= 201 && totals.failures["other"]?.rows == 800)
  }

  @Test func `Texts from outside are safe to print, and absurd numbers do no harm`() throws {
    var totals = Totals()
    for _ in 0..<3 {
      totals.count(try row(#"{"index":-9223372036854775808,"status":"failed","code":"\u001b]0;x\u0007","url":5}"#))
      totals.count(try ok(1, "\\u001b[2J", milliseconds: .max))
      totals.count(
        try row(#"{"index":1,"status":"ok","outputs":[{"bytes":9223372036854775807}],"source":{"bytes":-1}}"#))
    }
    let text = totals.text(isPartial: false)
    #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.isUnprintable })
    #expect(!String(decoding: totals.json(isPartial: false), as: UTF8.self).contains("\u{1B}"))
  }
}

@Suite struct ReportReaderTests {
  private static let good = #"{"index":0,"status":"ok"}"# + "\n"

  private func read(_ text: String) throws -> (count: Int, reader: ReportReader) {
    var reader = ReportReader(LineReader(text: text))
    var count = 0
    while try reader.next() != nil { count += 1 }
    return (count, reader)
  }

  @Test(
    arguments: [
      (good + good, 2, false, false), ("", 0, false, false),
      (good + #"{"complete":false,"items":1}"# + "\n", 1, true, false),
      (good + #"{"index":1,"sta"#, 1, false, true), (good + good.dropLast(), 2, false, false),
    ])
  func `An unfinished last line is ignored, and a partial report is recognized`(
    text: String, count: Int, isPartial: Bool, isCut: Bool
  ) throws {
    let (found, reader) = try read(text)
    #expect(found == count && reader.isPartial == isPartial && reader.isCut == isCut)
  }

  @Test(arguments: [("http://a/a.png", 1), (good + "{}\n" + good, 2), (good + #"{"index":1,"# + "\n" + good, 2)])
  func `A line that is not one of a report is an error`(text: String, line: Int) {
    #expect(message { _ = try read(text) }?.hasPrefix("list, line \(line): not a report line: ") == true)
  }
}
