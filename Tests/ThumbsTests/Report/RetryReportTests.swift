import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import thumbs

private func failed(
  _ code: FailureCode, url: String = "http://a/a.png", change: (inout ManifestRow) -> Void = { _ in }
) throws -> ReportLine {
  var row = ManifestRow(index: 4, line: 7, name: "A {x}", url: url)
  change(&row)
  let planned = PlannedRow(
    entry: .row(row), name: OutputName(try NameTemplate("{name}-{spec}.{ext}")) { _ in "A {x}" },
    specs: [ThumbnailSpec(width: 64, height: 32, scale: 2, fit: .cover, format: .png, quality: 50)],
    ownFields: row.options.headers.map(\.name))
  var line = ReportLine(row, .failed(FetchFailure(code, "No.")))
  line.again = ReportLine.Again(planned, directory: "out")
  return line
}

private func report(
  _ lines: [ReportLine], _ choice: RetryReport.Choice = .retryable, fields: Set<String> = []
) throws -> RetryReport {
  let bytes = lines.flatMap(\.json) + Coverage.complete.json(items: lines.count)
  return try RetryReport(ReportReader(LineReader(.bytes(bytes, name: "r"))), choice: choice, fields: fields)
}

extension RetryReport {
  fileprivate var reasons: [String?] { rows.map(\.entry.reason) }
}

@Suite struct RetryReportTests {
  @Test func `A row keeps its place, URL, names, sizes and mirrors`() throws {
    let line = try failed(.http(503)) { $0.options.mirrors = ["http://b/a.png"] }

    let report = try report([line])

    let row = try #require(report.rows.first)
    guard case .row(let manifestRow) = row.entry else { throw CancellationError() }
    #expect(report.directories == ["out"])
    #expect([manifestRow.index, manifestRow.line] == [4, 7])
    #expect(manifestRow.name == "A {x}" && manifestRow.url == "http://a/a.png")
    #expect(manifestRow.options.mirrors == ["http://b/a.png"])
    #expect(row.specs == [ThumbnailSpec(width: 64, height: 32, scale: 2, fit: .cover, format: .png, quality: 50)])
    let thumbnail = Thumbnail(
      spec: row.specs[0], size: PixelSize(width: 1, height: 1), format: .png, bytes: [])
    #expect(row.name?.fileName(of: thumbnail) == "A {x}-64x32@2x.png")
    // If the retry fails too, it can be retried in the same way.
    #expect(ReportLine.Again(row, directory: "out") == line.again)
  }

  @Test func `Transient failures and canceled rows are retried, and all failures on demand`() throws {
    let codes: [FailureCode] = [.http(404), .timeoutTotal, .cancelled, .tls, .http(503)]
    let done = ReportLine(
      ManifestRow(index: 0, url: "u"),
      .done(
        ThumbnailSet(
          origin: .disk, thumbnails: [], source: SourceImage(size: PixelSize(width: 1, height: 1), format: .png),
          sourceBytes: 1, digest: BodyDigest(of: [1]), attempts: 0, timings: Timings(), warnings: []), []))
    let lines = try [done] + codes.map { try failed($0, url: "http://a/\($0)") }
    let urls = codes.map { "http://a/\($0)" }

    #expect(try report(lines).rows.map(\.entry.url) == [urls[1], urls[2], urls[4]])
    #expect(
      try report(lines).introduction
        == "Retrying 3 rows: 1 row is done, 2 failed permanently (retry with --all-failed).")
    #expect(try report(lines, .allFailed).rows.map(\.entry.url) == urls)
  }

  @Test func `An incomplete last line is skipped, and an incomplete line before it is an error`() throws {
    let lines = try [failed(.http(503), url: "http://a/1"), failed(.http(503), url: "http://a/2")].flatMap(\.json)

    let cut = try RetryReport(ReportReader(LineReader(.bytes(Array(lines.dropLast(9)), name: "r"))), choice: .retryable)
    #expect(cut.rows.map(\.entry.url) == ["http://a/1"])
    #expect(cut.isPartial && cut.isKnownPartial)

    let damaged = Array(lines.dropLast(9)) + [UInt8(ascii: "\n")]
    #expect(throws: InputError.self) {
      try RetryReport(ReportReader(LineReader(.bytes(damaged, name: "r"))), choice: .retryable)
    }
  }

  @Test func `A report without the line that proves it whole may lack rows`() throws {
    let (row, end) = (try failed(.http(503)).json, Coverage.complete.json(items: 1))
    let list = ListEnd(rows: 9, digest: nil, shard: nil)
    let old = Array("{\"complete\":true,\"rows\":9,\"shard\":\"1/2\",\"by\":\"row\"}\n".utf8)
    func isPartial(_ bytes: [UInt8]) throws -> Bool {
      var reader = ReportReader(LineReader(.bytes(bytes, name: "r")))
      while try reader.next() != nil {}
      let report = try RetryReport(ReportReader(LineReader(.bytes(bytes, name: "r"))), choice: .retryable)
      #expect(report.isPartial == (reader.isPartial || reader.isUnproven))
      return report.isPartial
    }

    for whole in [row + end, row + row + end + end, Coverage.complete.json(items: 0), row + old] {
      #expect(try !isPartial(whole))
    }
    #expect(try !isPartial(row + Coverage.complete.json(items: 1, of: list)))
    for cut in [row, [], end, row + row + end, row + end + row, row + end + row + end.dropLast(9)] {
      #expect(try isPartial(cut))
    }
    let report = try RetryReport(ReportReader(LineReader(.bytes(row, name: "r"))), choice: .retryable)
    #expect(!report.isKnownPartial && report.introduction.contains("does not end with the line that proves it whole"))
  }

  @Test func `The last line of a partial report is not a row, and the introduction mentions it`() throws {
    let bytes = try failed(.http(503)).json + Coverage.partial(rows: 1).json(items: 1)

    let partial = try RetryReport(ReportReader(LineReader(.bytes(bytes, name: "r"))), choice: .retryable)

    #expect(partial.isPartial && partial.rows.count == 1 && partial.lineNumbers == [1])
    #expect(partial.introduction.contains("does not contain every row"))
    #expect(try !report([failed(.http(503))]).isPartial)
  }

  @Test func `A row that cannot be retried keeps the data that a later retry needs`() throws {
    let field = try failed(.http(503)) { $0.options.headers = [try! HeaderOption("x-key: secret")] }
    let row = try #require(try report([field]).rows.first)
    guard case .bad(let bad) = row.entry else { throw CancellationError() }
    #expect(try report([field]).requestedCount == 0)
    #expect(row.kept == field.json.dropLast())
    var line = ReportLine(bad)
    line.again = row.again

    #expect(line.url == "http://a/a.png" && line.again == field.again)
    // A later retry with the header field succeeds.
    #expect(try report([line], fields: ["x-key"]).rows.map(\.entry.url) == ["http://a/a.png"])
  }

  @Test func `The introduction counts the skipped rows for each reason`() throws {
    let secret = try (1...2).map { try failed(.http(503), url: "http://me:secret@a/\($0).png") }
    let field = try failed(.http(503)) { $0.options.headers = [try! HeaderOption("x-key: secret")] }
    let report = try report(secret + [field, failed(.http(503))])

    #expect(report.rows.count == 4 && report.requestedCount == 1 && report.lineNumbers == [1, 2, 3, 4])
    #expect(
      report.introduction
        == "Retrying 1 row: 0 rows are done. 2 rows are skipped: the report does not contain the credentials of the "
        + "URL; run thumbs fetch with the manifest again. 1 row is skipped: the report does not contain the row's "
        + "header field x-key; give it with --header.")
  }

  @Test func `Rows that are not requested again neither count nor decide about the directory`() throws {
    let retried = try failed(.http(503))
    let skipped = try ["a", "b"].map { directory in
      var line = try failed(.http(503), url: "http://me:secret@a/a.png")
      line.again?.directory = directory
      return line
    }
    let unusable = ReportLine(BadRow(index: 1, line: 2, name: nil, reason: "No."))
    let all = try report(skipped + [unusable, retried], .allFailed)
    let others = try report(skipped + [unusable], .allFailed)

    #expect(all.directories == ["out"] && all.requestedCount == 1 && all.rows.count == 4)
    #expect(others.directories == [] && others.otherDirectory == "a" && others.requestedCount == 0)
    #expect(others.introduction.hasPrefix("Nothing to retry: 0 rows are done. 2 rows are skipped: "))
  }

  @Test func `A row whose secrets are not in the report is a bad row that names them`() throws {
    let secret = try failed(.http(503), url: "http://me:secret@a/a.png")
    #expect(
      try report([secret]).reasons
        == [
          "r, line 1: the report does not contain the credentials of the URL; run thumbs fetch with the manifest again."
        ])

    let field = try failed(.http(503)) { $0.options.headers = [try! HeaderOption("x-key: secret")] }
    #expect(!String(decoding: field.json, as: UTF8.self).contains("secret"))
    #expect(
      try report([field]).reasons
        == ["r, line 1: the report does not contain the row's header field x-key; give it with --header."])
    #expect(try report([field], fields: ["x-key"]).reasons == [nil])

    let bad = ReportLine(BadRow(index: 1, line: 2, name: nil, reason: "No."))
    #expect(
      try report([bad], .allFailed).reasons
        == ["r, line 1: the line has no image to retry."])
  }

  @Test(arguments: [
    ("../x.{ext}", #"r, line 1: the file name '../x.{ext}' is invalid."#),
    ("a.{stem}", "r, line 1: the file name 'a.{stem}' is invalid."),
    ("a.{ext", "r, line 1: the file name 'a.{ext' is invalid."),
    ("a/../../x", "r, line 1: the file name 'a/../../x' is invalid."),
    ("/etc/x", "r, line 1: the file name '/etc/x' is invalid."),
    ("a//x", "r, line 1: the file name 'a//x' is invalid."),
    ("./x/", "r, line 1: the file name './x/' is invalid."),
  ])
  func `A forged file name cannot lead out of the directory`(file: String, reason: String) throws {
    var line = try failed(.http(503))
    line.again?.file = file
    #expect(try report([line]).reasons == [reason])
  }

  @Test(arguments: ["v1-0x1@1", "v1-64x64@9", "junk"])
  func `A forged spec makes a bad row`(spec: String) throws {
    var line = try failed(.http(503))
    line.again?.specs = [spec + "-inside-never-auto-q82-ffffff-lanczos3-perceptual-baseline"]
    #expect(try report([line]).reasons == ["r, line 1: the specs are invalid."])
  }

  @Test func `A file that is not a report is rejected at its first unrecognized line`() throws {
    let good = String(decoding: try failed(.http(503)).json, as: UTF8.self)
    for (text, number) in [("http://a/a.png\n", 1), ("http://a/a.png", 1), (good + "[]\n", 2)] {
      let reason = message { _ = try RetryReport(ReportReader(LineReader(text: text)), choice: .retryable) }
      #expect(reason?.hasPrefix("list, line \(number): not a report line: ") == true)
    }
  }
}

@Suite struct FingerprintTests {
  @Test func `A spec is restored from its fingerprint, of any version`() {
    let spec = ThumbnailSpec(
      width: 200, height: 100, scale: 2, fit: .stretch, enlargement: .allowed, format: .jpeg, quality: 7,
      background: .init(red: 1, green: 2, blue: 3), filter: .box, light: .linear, scans: .progressive)
    for spec in [spec, ThumbnailSpec(width: 1)] {
      #expect(ThumbnailSpec(fingerprint: spec.fingerprint) == spec)
      #expect(ThumbnailSpec(fingerprint: "v99" + spec.fingerprint.drop { $0 != "-" }) == spec)
    }
  }
}
