import Glibc
import Synchronization

/// Reads a report line by line, in constant memory.
struct ReportReader {
  /// A line with a row.
  struct Line {
    /// The members of the row.
    let row: ReportRow
    /// The JSON text of the line.
    let text: String
    /// The number of the line, from 1.
    let number: Int
  }

  /// True if the report says that rows of its run are missing.
  var isPartial: Bool { proof.isPartial }
  /// True if the report does not prove that every row is there. Known at its end.
  var isUnproven: Bool { proof.isCut }
  /// The lists of which the report says that it is complete, or one of their shards: one for each last line, as several
  /// reports may be in one file.
  private(set) var lists: [ReportedList] = []
  /// True if the last line is not finished. It is ignored: the process was killed, or is still writing it.
  private(set) var isCut = false
  private var proof = ReportProof()
  private var lines: LineReader

  /// Opens the report at `path`, which may be compressed with gzip; `-` is standard input.
  init(path: String) throws(ManifestError) {
    self.init(LineReader(try .open(path, expecting: "a report").unpacked(), longestLine: RetryReport.longestLine))
  }

  /// Reads the report in `lines`.
  init(_ lines: LineReader) { self.lines = lines }

  /// Returns the next row; nil after the last.
  ///
  /// - Throws: An error for a line that is not one of a report, and after which the file goes on.
  mutating func next() throws(ManifestError) -> Line? {
    while let line = try lines.next(skipping: .spaces) {
      guard let bytes = line.bytes else { throw ManifestError(lines.name, at: .line(line.number), "is too long") }
      if bytes.allSatisfy({ $0 == 0x20 }) { continue }
      do throws(ParseError) {
        let value = try JSONDocument.parse(bytes)
        if let row = ReportRow(value) {
          proof.addRow()
          return Line(row: row, text: String(decoding: bytes, as: UTF8.self), number: line.number)
        }
        guard let end = value as? [String: Any], proof.addEnd(end) else {
          throw ParseError(reason: "it has no index and status")
        }
        if let list = ReportedList(end) { lists.append(list) }
      } catch {
        guard !line.isEnded, line.number > 1 || Self.isStart(bytes) else {
          throw ManifestError(lines.name, at: .line(line.number), "not a report line: \(error.reason)")
        }
        isCut = true
        proof.addPart()
      }
    }
    return nil
  }

  /// True if `bytes` are the beginning of a line: nothing else tells a report that was cut in its first line from
  /// another file.
  private static func isStart(_ bytes: [UInt8]) -> Bool {
    [#"{"index":"#, #"{"complete":"#].contains { bytes.starts(with: $0.utf8) || $0.utf8.starts(with: bytes) }
  }
}

/// A row as a report has it. Its texts come from outside and may contain anything.
struct ReportRow: Hashable, Sendable {
  let index: Int
  let status: ReportLine.Status
  let url: String?
  let origin: String?
  let code: String?
  let isRetryable: Bool
  let message: String?
  /// The time of the download; nil if the row did not succeed.
  let download: Duration?
  /// The length of the image in bytes; 0 if the row did not succeed.
  let imageBytes: Int
  /// The lengths of the files in bytes.
  let fileBytes: [Int]
  let hasFallback: Bool

  /// The upper bound of a time, in milliseconds: a year. Larger ones are clamped, so that sums cannot overflow.
  private static let longestTime = 31_536_000_000

  /// Reads the row from the JSON value `value`; nil if that is not a row.
  init?(_ value: Any) {
    guard let row = value as? [String: Any], let index = row["index"] as? Int,
      let status = (row["status"] as? String).flatMap(ReportLine.Status.init(rawValue:))
    else { return nil }
    self.index = index
    self.status = status
    url = row["url"] as? String
    origin = row["origin"] as? String
    code = row["code"] as? String
    isRetryable = row["retryable"] as? Bool ?? false
    message = row["message"] as? String
    download = ((row["ms"] as? [String: Any])?["download"] as? Int).map {
      .milliseconds(min(max(0, $0), Self.longestTime))
    }
    imageBytes = max(0, (row["source"] as? [String: Any])?["bytes"] as? Int ?? 0)
    fileBytes = (row["outputs"] as? [[String: Any]] ?? []).map { max(0, $0["bytes"] as? Int ?? 0) }
    hasFallback = row["fallback"] as? Bool ?? false
  }
}

/// The totals of a report. Bounded, however many rows and hosts the report has.
struct ReportTotals: Hashable, Sendable {
  /// The rows that failed with one code.
  struct Failures: Hashable, Sendable {
    var rows = 0
    /// True if a retry may succeed.
    var isRetryable = false
  }

  /// A row with a slow download.
  struct SlowRow: Hashable, Sendable {
    var index: Int
    var url: String
    var download: Duration
  }

  /// The number of slow rows that are kept.
  static let slowRows = 10
  /// The maximum number of origins and of codes that are counted separately. Those that `thumbs` writes are fewer.
  private static let names = 200
  /// The name for all others.
  private static let otherName = "other"

  /// The number of rows by status.
  private(set) var rows: [ReportLine.Status: Int] = [:]
  /// The number of rows that succeeded, by origin.
  private(set) var origins: [String: Int] = [:]
  /// The rows that failed, by code.
  private(set) var failures: [String: Failures] = [:]
  /// The number of rows with the fallback image.
  private(set) var fallbacks = 0
  /// The number of files.
  private(set) var files = 0
  /// The total length of the files in bytes.
  private(set) var fileBytes = 0
  /// The total length of the images in bytes.
  private(set) var imageBytes = 0
  /// The rows per host.
  private(set) var hosts = HostTally()
  /// The rows with the slowest downloads, slowest first.
  private(set) var slowest: [SlowRow] = []

  /// The number of all rows.
  var total: Int { rows.values.reduce(0, +) }

  /// Counts `row`.
  mutating func count(_ row: ReportRow) {
    rows[row.status, default: 0] += 1
    files += row.fileBytes.count
    fileBytes = row.fileBytes.reduce(fileBytes, &+)
    imageBytes &+= row.imageBytes
    if row.hasFallback { fallbacks += 1 }
    switch row.status {
    case .ok: countSuccess(row)
    case .failed: countFailure(row)
    case .cancelled: break
    }
  }

  private mutating func countSuccess(_ row: ReportRow) {
    let origin = row.origin ?? Self.otherName
    origins[origins[origin] != nil || origins.count < Self.names ? origin : Self.otherName, default: 0] += 1
    let isDownload = row.origin == "network" || row.origin == "revalidated"
    hosts.count(rowOf: SourceURLParts(row.url ?? "").host) { host in
      host.rows += 1
      guard isDownload, let download = row.download else { return }
      host.downloads += 1
      host.time += download
    }
    if isDownload, let download = row.download { keep(row, download) }
  }

  private mutating func countFailure(_ row: ReportRow) {
    let code = row.code ?? Self.otherName
    let key = failures[code] != nil || failures.count < Self.names ? code : Self.otherName
    failures[key, default: Failures()].rows += 1
    if row.isRetryable { failures[key]?.isRetryable = true }
    hosts.count(rowOf: SourceURLParts(row.url ?? "").host) { host in
      host.rows += 1
      host.failed += 1
    }
  }

  private mutating func keep(_ row: ReportRow, _ download: Duration) {
    if slowest.count == Self.slowRows, let last = slowest.last, last.download >= download { return }
    let place = slowest.firstIndex { $0.download < download } ?? slowest.endIndex
    slowest.insert(SlowRow(index: row.index, url: row.url ?? "", download: download), at: place)
    if slowest.count > Self.slowRows { slowest.removeLast() }
  }
}

extension ReportTotals {
  /// The number of slow rows in the text.
  private static let shownSlowRows = 3

  /// Returns the totals for people, without a line feed at the end. Safe to print on a terminal.
  func text(isPartial: Bool) -> String {
    var lines = [
      "\(total) \(total == 1 ? "item" : "items"): \(counts); \(files) \(files == 1 ? "file" : "files"), "
        + "\(ByteSize(count: fileBytes))"
    ]
    if isPartial { lines.append("  the report does not prove that it contains every row of its run") }
    if !origins.isEmpty { lines.append("  ok: " + Summary.list(origins.map { ($0, $1) })) }
    if !failures.isEmpty {
      lines.append("  failed: " + Summary.list(failures.map { ($1.isRetryable ? "\($0)*" : $0, $1.rows) }))
    }
    if failures.values.contains(where: \.isRetryable) { lines.append("  (* worth retrying)") }
    if fallbacks > 0 { lines.append("  with the fallback image: \(fallbacks)") }
    lines += hosts.lines
    if let first = slowest.first, first.download > .zero {
      let rows = slowest.prefix(Self.shownSlowRows).map { "\($0.url) \($0.download.secondsText) s" }
      lines.append("  slowest: " + rows.joined(separator: ", "))
    }
    return lines.map(\.printable).joined(separator: "\n")
  }

  private var counts: String {
    let counts = ["\(rows[.ok] ?? 0) ok", "\(rows[.failed] ?? 0) failed"]
    return (counts + (rows[.cancelled].map { ["\($0) cancelled"] } ?? [])).joined(separator: ", ")
  }

  /// Returns the totals as one JSON object and a line feed. Its members are those of the summary of a run where both
  /// have them.
  func json(isPartial: Bool) -> [UInt8] {
    var text = JSONText()
    text.object { text in
      text.member("version", 1)
      text.member("complete", !isPartial)
      text.members(
        "items",
        [
          ("total", total), ("ok", rows[.ok] ?? 0), ("failed", rows[.failed] ?? 0),
          ("cancelled", rows[.cancelled] ?? 0),
        ])
      text.members("files", [("count", files), ("fallbacks", fallbacks)])
      text.members("bytes", [("files", fileBytes), ("images", imageBytes)])
      write(to: &text)
      hosts.write(to: &text)
    }
    text.endLine()
    return text.bytes
  }

  private func write(to text: inout JSONText) {
    text.objects("origins", origins.sorted { ($1.value, $0.key) < ($0.value, $1.key) }) { origin, text in
      text.member("origin", origin.key)
      text.member("items", origin.value)
    }
    let failures = failures.sorted { ($1.value.rows, $0.key) < ($0.value.rows, $1.key) }
    text.objects("failures", failures) { failure, text in
      text.member("code", failure.key)
      text.member("items", failure.value.rows)
      text.member("retryable", failure.value.isRetryable)
    }
    text.objects("slowest", slowest) { row, text in
      text.member("index", row.index)
      text.member("url", row.url)
      text.member("download", row.download.wholeMilliseconds)
    }
  }
}

/// Decides if a report has every row of its run, by its last line. A plain value that is informed of the lines in their
/// order. Several reports may follow one another.
struct ReportProof: Hashable, Sendable {
  /// True if a line says that rows are missing.
  private(set) var isPartial = false
  /// The number of rows, and that of the rows that the ends count.
  private var (rows, items) = (0, 0)
  /// False after an end that does not count its rows, as older versions wrote it for a shard.
  private var countsItems = true
  private var endsWithEnd = false

  /// True if the report was cut, or may have been: it does not say that every row is there.
  var isCut: Bool { !isPartial && !(endsWithEnd && (!countsItems || items == rows)) }

  /// Records a row.
  mutating func addRow() {
    rows += 1
    endsWithEnd = false
  }

  /// Records the beginning of a line that is not finished.
  mutating func addPart() { endsWithEnd = false }

  /// Records a last line with these members. Returns false if it is not one.
  mutating func addEnd(_ members: [String: Any]) -> Bool {
    guard let isComplete = members["complete"] as? Bool else { return false }
    if !isComplete { isPartial = true }
    if let count = members["items"] as? Int { items &+= count } else { countsItems = false }
    endsWithEnd = true
    return true
  }
}

/// The list of a complete run, as in the last line of a report.
struct ReportedList: Hashable, Sendable {
  /// The number of rows.
  let rows: Int
  /// The digest of the rows, see ``ListDigest``; nil if the line has none.
  let digest: String?

  /// Reads the members of a last line; nil if they do not contain the number of rows.
  init?(_ members: [String: Any]) {
    guard let rows = members["rows"] as? Int else { return nil }
    self.rows = rows
    digest = members["list"] as? String
  }
}
