import ArgumentParser
import BatchFetch

/// The totals of a run.
struct Summary: Hashable, Sendable {
  /// The number of rows that have their files, by origin.
  private(set) var done: [ThumbnailSet.Origin: Int] = [:]
  /// The number of rows whose files were left alone.
  private(set) var kept = 0
  /// The number of rows that failed, by failure code.
  private(set) var failed: [FailureCode: Int] = [:]
  /// The number of rows that were canceled.
  private(set) var cancelled = 0
  /// The number of rows that a retry skipped, because the report lacks something that they need.
  private(set) var skipped = 0
  /// The number of files written.
  private(set) var writtenFiles = 0
  /// The number of files that had the right contents already.
  private(set) var unchangedFiles = 0
  /// The total length in bytes of the images that came from the cache and were not downloaded.
  private(set) var savedBytes = 0
  /// The rows per host.
  private(set) var hosts = HostTally()

  /// Creates an empty summary.
  init() {}

  /// Counts the row of `line`.
  mutating func count(_ line: ReportLine) {
    hosts.count(line)
    switch (line.outcome, line.status) {
    case (.skipped, _): skipped += 1
    case (_, .cancelled): cancelled += 1
    case (.failed(let failure), _): failed[failure.code, default: 0] += 1
    case (.kept(_, let outputs), _):
      kept += 1
      unchangedFiles += outputs.count
    case (.done(let set, let outputs), _):
      done[set.origin, default: 0] += 1
      unchangedFiles += outputs.count { $0.outcome == .unchanged }
      writtenFiles += outputs.count { $0.outcome == .written }
      if set.origin.isCache { savedBytes += set.sourceBytes }
    }
  }
}

extension Summary {
  /// The number of rows that have their files.
  var doneCount: Int { done.values.reduce(kept, +) }
  /// The number of rows that have their files, by `origin` of the report.
  var origins: [(name: String, count: Int)] {
    done.map { ($0.rawValue, $1) } + (kept > 0 ? [(ReportLine.existing, kept)] : [])
  }
  /// The number of rows that failed.
  var failedCount: Int { failed.values.reduce(0, +) }
  /// The number of all rows.
  var total: Int { doneCount + failedCount + cancelled + skipped }
  /// True if at least one failure is worth retrying.
  var hasRetryableFailure: Bool { failed.keys.contains(where: \.isRetryable) }

  /// The exit status of a run that was not interrupted: 0 if no row failed, 75 (`EX_TEMPFAIL`) if at least one failure
  /// is worth retrying or a row was skipped, and 1 otherwise.
  var exitCode: Int32 {
    if skipped > 0 || hasRetryableFailure { return 75 }
    return failed.isEmpty ? 0 : 1
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

// MARK: JSON

extension Summary {
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

  private func writeCauses(to text: inout JSONText) {
    text.objects("origins", origins.sorted { ($1.count, $0.name) < ($0.count, $1.name) }) { origin, text in
      text.member("origin", origin.name)
      text.member("items", origin.count)
    }
    let failures = failed.sorted { ($1.value, "\($0.key)") < ($0.value, "\($1.key)") }
    text.objects("failures", failures) { failure, text in
      text.member("code", "\(failure.key)")
      text.member("items", failure.value)
      text.member("retryable", failure.key.isRetryable)
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
    counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
  }
}

// MARK: Text

extension Summary {
  /// Returns the summary for people: one to ten lines, without a line feed at the end. `limit` is the limit that ended
  /// the run, if one did.
  func text(
    _ coverage: Coverage = .complete, limit: RunLimit? = nil, after elapsed: Duration, downloaded: ByteSize,
    remote: RemoteCacheCounters? = nil
  ) -> String {
    var lines = [
      "\(total) \(total == 1 ? "item" : "items"): \(counts) in \(elapsed.secondsText) s; \(downloaded) downloaded"
    ]
    if let limit { lines.append("  stopped at the limit of \(limit)") }
    if coverage != .complete { lines.append("  stopped before every row was read") }
    if !origins.isEmpty { lines.append("  ok: " + Self.list(origins)) }
    if !failed.isEmpty {
      lines.append("  failed: " + Self.list(failed.map { ($0.isRetryable ? "\($0)*" : "\($0)", $1) }))
    }
    if hasRetryableFailure { lines.append("  (* worth retrying)") }
    if savedBytes > 0 { lines.append("  saved by the cache: \(ByteSize(count: savedBytes))") }
    lines += [remote?.line].compactMap(\.self) + hosts.lines
    return lines.map(\.printable).joined(separator: "\n")
  }

  private var counts: String {
    let counts = ["\(doneCount) ok", "\(failedCount) failed"]
    let others = [(cancelled, "cancelled"), (skipped, "skipped")].filter { $0.0 > 0 }.map { "\($0) \($1)" }
    return (counts + others).joined(separator: ", ")
  }

  /// Returns `5 http_404, 3 tls`, most frequent first.
  static func list(_ counts: [(name: String, count: Int)]) -> String {
    counts.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
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
    let code = FileDescriptor.writeAll(bytes[...], to: file.descriptor).code
    if code != 0 { throw OutputError(action: .write, path: file.name, code: code) }
  }
}
