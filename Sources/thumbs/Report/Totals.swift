import ArgumentParser
import BatchFetch

/// The totals of a run, or of a report. Bounded, however many rows, codes and hosts there are.
struct Totals: Hashable, Sendable {
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

  /// The number of rows that have their files, by origin.
  private(set) var origins: [String: Int] = [:]
  /// The rows that failed, by code.
  private(set) var failures: [String: Failures] = [:]
  /// The number of rows that were canceled.
  private(set) var cancelled = 0
  /// The number of rows that a retry skipped, because the report lacks something that they need.
  private(set) var skipped = 0
  /// The number of rows with the fallback image.
  private(set) var fallbacks = 0
  /// The number of files, those with the fallback image included, and their total length in bytes.
  private(set) var (files, fileBytes) = (0, 0)
  /// The number of files written for rows that succeeded.
  private(set) var writtenFiles = 0
  /// The number of files that had the right contents already.
  private(set) var unchangedFiles = 0
  /// The total length of the images in bytes, and of those that came from the cache and were not downloaded.
  private(set) var (imageBytes, savedBytes) = (0, 0)
  /// The rows per host.
  private(set) var hosts = HostTally()
  /// The rows with the slowest downloads, slowest first.
  private(set) var slowest: [SlowRow] = []

  /// The number of rows that have their files.
  var doneCount: Int { origins.values.reduce(0, +) }
  /// The number of rows that failed.
  var failedCount: Int { failures.values.reduce(0) { $0 + $1.rows } }
  /// The number of all rows.
  var total: Int { doneCount + failedCount + cancelled + skipped }
  /// True if at least one failure is worth retrying.
  var hasRetryableFailure: Bool { failures.values.contains(where: \.isRetryable) }

  /// The exit status of a run that was not interrupted: 0 if no row failed, 75 (`EX_TEMPFAIL`) if at least one failure
  /// is worth retrying or a row was skipped, and 1 otherwise.
  var exitCode: Int32 {
    if skipped > 0 || hasRetryableFailure { return 75 }
    return failures.isEmpty ? 0 : 1
  }

  /// Returns the number of rows that failed with `code`.
  func failed(_ code: FailureCode) -> Int { failures["\(code)"]?.rows ?? 0 }

  // MARK: Counting

  /// Counts the row of `line`.
  mutating func count(_ line: ReportLine) { count(ReportRow(line)) }

  /// Counts `row`.
  mutating func count(_ row: ReportRow) {
    files += row.files.count
    fileBytes = row.files.reduce(fileBytes) { $0 &+ $1.bytes }
    imageBytes &+= row.imageBytes
    if row.hasFallback { fallbacks += 1 }
    hosts.count(row)
    switch row.status {
    case .ok: countSuccess(row)
    case .failed: countFailure(row)
    case .cancelled where row.isSkipped: skipped += 1
    case .cancelled: cancelled += 1
    }
  }

  private mutating func countSuccess(_ row: ReportRow) {
    let origin = row.origin ?? Self.otherName
    origins[origins[origin] != nil || origins.count < Self.names ? origin : Self.otherName, default: 0] += 1
    unchangedFiles += row.files.count { $0.outcome == .unchanged }
    writtenFiles += row.files.count { $0.outcome == .written }
    if ThumbnailSet.Origin(rawValue: origin)?.isCache == true { savedBytes &+= row.imageBytes }
    if let download = row.ownDownload { keep(row, download) }
  }

  private mutating func countFailure(_ row: ReportRow) {
    let code = row.code ?? Self.otherName
    let key = failures[code] != nil || failures.count < Self.names ? code : Self.otherName
    failures[key, default: Failures()].rows += 1
    if row.isRetryable { failures[key]?.isRetryable = true }
  }

  private mutating func keep(_ row: ReportRow, _ download: Duration) {
    if slowest.count == Self.slowRows, let last = slowest.last, last.download >= download { return }
    let place = slowest.firstIndex { $0.download < download } ?? slowest.endIndex
    slowest.insert(SlowRow(index: row.index, url: row.url ?? "", download: download), at: place)
    if slowest.count > Self.slowRows { slowest.removeLast() }
  }
}

extension ThumbnailSet.Origin {
  /// True if the image came from the cache.
  fileprivate var isCache: Bool {
    switch self {
    case .revalidated, .disk, .memory, .remote, .stale: true
    case .network, .file: false
    }
  }
}

// MARK: Text

extension Totals {
  /// The number of slow rows in the text.
  private static let shownSlowRows = 3

  /// Returns the totals of a run for people: one to twenty lines, without a line feed at the end. `limit` is the limit
  /// that ended the run, if one did.
  func text(
    _ coverage: Coverage = .complete, reasons: FailureReasons = FailureReasons(), limit: RunLimit? = nil,
    after elapsed: Duration, downloaded: ByteSize,
    remote: RemoteCacheCounters? = nil
  ) -> String {
    var lines = ["\(counts) in \(elapsed.secondsText) s; \(downloaded) downloaded"]
    if let limit { lines.append("  stopped at the limit of \(limit)") }
    if coverage != .complete { lines.append("  stopped before every row was read") }
    lines += causes + reasons.lines(self)
    if savedBytes > 0 { lines.append("  saved by the cache: \(ByteSize(count: savedBytes))") }
    lines += [remote?.line].compactMap(\.self) + hosts.lines
    return lines.map(\.printable).joined(separator: "\n")
  }

  /// Returns the totals of a report for people, without a line feed at the end. Safe to print on a terminal.
  func text(isPartial: Bool) -> String {
    var lines = ["\(counts); \(files.grouped) \(files == 1 ? "file" : "files"), \(ByteSize(count: fileBytes))"]
    if isPartial { lines.append("  the report does not prove that it contains every row of its run") }
    lines += causes
    if fallbacks > 0 { lines.append("  with the fallback image: \(fallbacks.grouped)") }
    lines += hosts.lines
    if let first = slowest.first, first.download > .zero {
      let rows = slowest.prefix(Self.shownSlowRows).map { "\($0.url) \($0.download.secondsText) s" }
      lines.append("  slowest: " + rows.joined(separator: ", "))
    }
    return lines.map(\.printable).joined(separator: "\n")
  }

  private var counts: String {
    let others = [(cancelled, "canceled"), (skipped, "skipped")].filter { $0.0 > 0 }.map { "\($0.grouped) \($1)" }
    let counts = ["\(doneCount.grouped) ok", "\(failedCount.grouped) failed"] + others
    return "\(total.grouped) \(total == 1 ? "item" : "items"): \(counts.joined(separator: ", "))"
  }

  /// The lines with the origins and the failure codes.
  private var causes: [String] {
    let ok = origins.isEmpty ? [] : ["  ok: " + Self.list(origins.map { ($0, $1) })]
    guard !failures.isEmpty else { return ok }
    let failed = ["  failed: " + Self.list(failures.map { ($1.isRetryable ? "\($0)*" : $0, $1.rows) })]
    return ok + failed + (hasRetryableFailure ? ["  (* worth retrying)"] : [])
  }

  /// Returns `5 http_404, 3 tls`, most frequent first.
  private static func list(_ counts: [(name: String, count: Int)]) -> String {
    counts.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.map { "\($0.count.grouped) \($0.name)" }
      .joined(separator: ", ")
  }

  /// Returns the line of a quiet run about rows that failed, so that cron sends it; nil if none did. `report` is the
  /// path of the report; nil without one.
  func quietLine(report: String?) -> String? {
    guard failedCount > 0 else { return nil }
    let codes = Self.list(failures.map { ($0, $1.rows) })
    let place = report.map { $0 == "-" ? "" : "; see \($0)" } ?? ""
    let verb = hasRetryableFailure ? " Some are worth retrying." : ""
    return "\(failedCount.grouped) of \(total.grouped) rows failed: \(codes)\(place).\(verb)"
  }
}

// MARK: JSON

extension Totals {
  /// Returns the summary of a run as one JSON object and a line feed.
  ///
  /// All members are always present. Times are in milliseconds, lengths in bytes, and lists are sorted in descending
  /// order:
  ///
  ///     {"version": 1, "exit": 75, "complete": true, "limit": null, "elapsed": 1250,
  ///      "items": {"total": 7, "ok": 2, "failed": 4, "cancelled": 1, "skipped": 0},
  ///      "files": {"written": 1, "unchanged": 1},
  ///      "bytes": {"downloaded": 288666, "saved": 9120}, "remoteCache": null,
  ///      "origins": [{"origin": "network", "items": 2}],
  ///      "failures": [{"code": "http_404", "items": 2, "retryable": false}],
  ///      "hosts": {"count": 2, "unlistedItems": 0,
  ///       "slowest": [{"host": "a.example", "downloads": 2, "mean": 310, "items": 4, "failed": 2}],
  ///       "failing": [{"host": "a.example", "downloads": 2, "mean": 310, "items": 4, "failed": 2}]}}
  ///
  /// `exit` is the exit status of the process. `complete` is true if every row of the manifests is counted. `limit`
  /// is the limit that ended the run, `max-run-time` or `max-run-bytes`, or else null. `saved` is the total length of
  /// the images that came from the cache. `remoteCache` is null without a remote cache. `mean` is the mean time of
  /// the downloads. `unlistedItems` counts the rows of hosts beyond the first ``HostTally/limit``. `version` changes
  /// when a member changes its meaning or is removed, not when one is added.
  func json(
    _ ending: RunEnding, _ coverage: Coverage, after elapsed: Duration, downloaded: ByteSize,
    remote: RemoteCacheCounters? = nil
  ) -> [UInt8] {
    var text = JSONText()
    text.object { text in
      text.member("version", 1)
      text.member("exit", Int(ending.exitCode.rawValue))
      text.member("complete", coverage == .complete)
      text.member("limit", orNull: ending.limit?.option)
      text.member("elapsed", elapsed.wholeMilliseconds)
      text.members(
        "items",
        [
          ("total", total), ("ok", doneCount), ("failed", failedCount), ("cancelled", cancelled), ("skipped", skipped),
        ])
      text.members("files", [("written", writtenFiles), ("unchanged", unchangedFiles)])
      text.members("bytes", [("downloaded", downloaded.count), ("saved", savedBytes)])
      if let remote { remote.write(to: &text) } else { text.member("remoteCache", orNull: nil) }
      writeCauses(to: &text)
      hosts.write(to: &text)
    }
    text.endLine()
    return text.bytes
  }

  /// Returns the totals of a report as one JSON object and a line feed. Its members are those of the summary of a run
  /// where both have them.
  func json(isPartial: Bool) -> [UInt8] {
    var text = JSONText()
    text.object { text in
      text.member("version", 1)
      text.member("complete", !isPartial)
      text.members(
        "items",
        [("total", total), ("ok", doneCount), ("failed", failedCount), ("cancelled", cancelled)])
      text.members("files", [("count", files), ("fallbacks", fallbacks)])
      text.members("bytes", [("files", fileBytes), ("images", imageBytes)])
      writeCauses(to: &text)
      text.objects("slowest", slowest) { row, text in
        text.member("index", row.index)
        text.member("url", row.url)
        text.member("download", row.download.wholeMilliseconds)
      }
      hosts.write(to: &text)
    }
    text.endLine()
    return text.bytes
  }

  private func writeCauses(to text: inout JSONText) {
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
  }
}

extension JSONText {
  /// Writes a member whose value is an object of numbers.
  mutating func members(_ key: StaticString, _ numbers: [(StaticString, Int)]) {
    self.key(key)
    object { text in
      for (key, number) in numbers { text.member(key, number) }
    }
  }

  /// Writes a member whose value is an array of objects.
  mutating func objects<Element>(
    _ key: StaticString, _ elements: [Element], _ body: (Element, inout JSONText) -> Void
  ) {
    self.key(key)
    array { text in
      for element in elements { text.object { body(element, &$0) } }
    }
  }
}

// MARK: Remote

extension RemoteCacheCounters {
  /// The names of the counts of lookups and uploads, in the summary and in this order.
  private var lookups: [(StaticString, Int)] {
    [
      ("hits", hits), ("misses", misses), ("timeouts", timeouts), ("errors", errors), ("rejected", rejected),
      ("skipped", skipped),
    ]
  }

  private var uploads: [(StaticString, Int)] { [("stored", stored), ("failed", failed), ("dropped", dropped)] }

  /// Writes the member `remoteCache` of a summary.
  func write(to text: inout JSONText) { text.members("remoteCache", lookups + uploads) }

  /// The line of the summary for people; nil if nothing happened.
  var line: String? {
    let parts = [Self.list(lookups), Self.list(uploads)].filter { !$0.isEmpty }
    return parts.isEmpty ? nil : "  remote cache: " + parts.joined(separator: "; ")
  }

  private static func list(_ counts: [(StaticString, Int)]) -> String {
    counts.filter { $0.1 > 0 }.map { "\($0.1.grouped) \($0.0)" }.joined(separator: ", ")
  }
}

extension Duration {
  /// The seconds with one digit after the decimal point.
  var secondsText: String { (self / .seconds(1)).text(places: 1) }
}

/// The file of `--summary`. It is written after the run, and keeps its old contents until then.
struct SummaryFile: Sendable {
  let file: NamedFile

  /// Replaces the contents of the file with `bytes`, or appends them to standard output.
  func write(_ bytes: [UInt8]) throws(OutputError) {
    file.empty()
    try FileDescriptor.write(bytes[...], to: file.descriptor, path: file.name)
  }
}
