import Testing

@testable import thumbs

@Suite struct ReportMergeTests {
  private func row(_ index: Int, _ status: String = "ok", url: String? = nil) throws -> ReportRow {
    var members: [String: Any] = ["index": index, "status": status]
    members["url"] = url
    return try #require(ReportRow(members))
  }

  private func merged(_ reports: [[(Int, String)]], total: Int? = nil) throws -> MergedReports {
    var merge = ReportMerge()
    for (report, rows) in reports.enumerated() {
      for (place, (index, status)) in rows.enumerated() {
        try #require(merge.add(try row(index, status), number: place + 1, report: report))
      }
    }
    return try merge.resolve(MergedList(rows: total))
  }

  @Test func `Reports of different rows are all kept`() throws {
    let merged = try merged([[(2, "ok"), (0, "failed")], [(1, "cancelled")]])

    #expect(merged.lines == [0: [1, 2], 1: [1]] && merged.count == 3)
    #expect(merged.counts == [.ok: 1, .failed: 1, .cancelled: 1])
    #expect(merged.repeated.count == 0 && merged.missing.count == 0)
  }

  @Test(arguments: [
    (["ok", "failed"], 0), (["failed", "ok"], 1), (["cancelled", "failed"], 1), (["failed", "cancelled"], 0),
    (["ok", "ok"], 1), (["failed", "failed"], 1), (["ok", "cancelled", "failed"], 0), (["failed", "ok", "ok"], 2),
  ])
  func `Of several lines the best is kept, and among equals the last`(statuses: [String], kept: Int) throws {
    let reports = try merged(statuses.map { [(0, $0)] })
    let lines = try merged([statuses.map { (0, $0) }])

    #expect(reports.lines == [kept: [1]] && reports.repeated.ranges == [0...0])
    #expect(lines.lines == [0: [UInt32(kept) + 1]])
  }

  @Test func `Rows without a line are missing, before, between and after the others`() throws {
    #expect(try merged([[(3, "ok"), (7, "ok"), (4, "failed")]], total: 10).missing.ranges == [0...2, 5...6, 8...9])
    #expect(try merged([[(0, "ok")]]).missing.count == 0)
    #expect(try merged([[], []], total: 2).missing.ranges == [0...1])
    #expect(try merged([[]], total: 0).missing.count == 0)
    let far = ReportMerge.indexLimit - 1
    #expect(try merged([[(far, "ok")]]).missing.ranges == [0...far - 1])
  }

  @Test func `A row beyond the end, and a row with two URLs, are no result`() throws {
    #expect(throws: ReportMerge.Failure.beyondEnd(index: 5, report: 0)) { try merged([[(5, "ok")]], total: 5) }
    var merge = ReportMerge()
    for (report, url) in [nil, "https://a.example/", nil, "https://b.example/"].enumerated() {
      _ = merge.add(try row(4, url: url), number: 1, report: report)
    }
    #expect(throws: ReportMerge.Failure.differentURLs(index: 4, reports: [3, 1])) {
      try merge.resolve(MergedList(rows: nil))
    }
  }

  private func report(_ ends: String...) throws -> ReportReader {
    var reader = ReportReader(LineReader(text: ends.joined(separator: "\n")))
    while try reader.next() != nil {}
    return reader
  }

  @Test func `Reports that describe different lists do not belong together, even in one file`() throws {
    let first = #"{"complete":true,"rows":4,"list":"00000000000000aa"}"#
    let other = #"{"complete":true,"rows":4,"list":"00000000000000bb"}"#
    let without = #"{"complete":true,"rows":4}"#
    var list = MergedList(rows: nil)

    try list.add(report(first, without), name: "1.jsonl")
    #expect(list.rows == 4 && list.digest == "00000000000000aa" && !list.lacksEnd)
    #expect(throws: InputError.self) { try list.add(report(other), name: "2.jsonl") }
    #expect(throws: InputError.self) { try list.add(report(first, other), name: "2.jsonl") }
    #expect(throws: InputError.self) { try list.add(report(#"{"complete":true,"rows":5}"#), name: "2.jsonl") }
  }

  @Test(arguments: ["{", #"{"index"#, #"{"index":12,"na"#, #"{"complete":tr"#])
  func `A report that was cut in its first line has no rows`(text: String) throws {
    let reader = try report(text)
    var list = MergedList(rows: nil)
    try list.add(reader, name: "1.jsonl")

    #expect(reader.isCut && list.lacksEnd)
    #expect(throws: InputError.self) { try report(text + "\n") }
    #expect(throws: InputError.self) { try report("url,name") }
  }

  @Test(arguments: [-1, ReportMerge.indexLimit, Int.max]) func `An index out of range is rejected`(index: Int) throws {
    var merge = ReportMerge()
    #expect(try !merge.add(row(index), number: 1, report: 0))
  }

  @Test func `Ranges join what touches, and a long list is cut`() {
    var ranges = IndexRanges()
    for index in [1, 2, 3, 5, 8, 9] { ranges.append(index..<index + 1) }
    ranges.append(10..<10)

    #expect(ranges.ranges == [1...3, 5...5, 8...9] && ranges.count == 6)
    #expect(ranges.text(limit: 3) == "1-3, 5, 8-9" && ranges.text(limit: 1) == "1-3 and 3 others")
  }
}
