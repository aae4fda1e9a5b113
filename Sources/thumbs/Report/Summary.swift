import BatchFetch

/// How a run went: what became of its rows.
struct Summary: Hashable, Sendable {
  /// Rows that have their files, by where these came from.
  private(set) var done: [ThumbnailSet.Origin: Int] = [:]
  /// Rows that failed, by cause.
  private(set) var failed: [FailureCode: Int] = [:]
  /// Rows that were given up.
  private(set) var cancelled = 0

  /// No rows yet.
  init() {}

  /// Counts the row of `line`.
  mutating func count(_ line: ReportLine) {
    switch (line.outcome, line.status) {
    case (_, .cancelled): cancelled += 1
    case (.failed(let failure), _): failed[failure.code, default: 0] += 1
    case (.done(let set, _), _): done[set.origin, default: 0] += 1
    }
  }
}

extension Summary {
  /// Rows that have their files.
  var doneCount: Int { done.values.reduce(0, +) }
  /// Rows that failed.
  var failedCount: Int { failed.values.reduce(0, +) }
  /// All rows.
  var total: Int { doneCount + failedCount + cancelled }

  /// The status that a run ends with when it was not stopped from outside: 0 where no row failed; 75 (`EX_TEMPFAIL`)
  /// where at least one failure is worth retrying, also beside others that are not; 1 otherwise.
  var exitCode: Int32 {
    if failed.keys.contains(where: \.isRetryable) { return 75 }
    return failed.isEmpty ? 0 : 1
  }

  /// The summary for a person, after `elapsed` and `downloaded`: one to three lines, without the last line feed.
  func text(after elapsed: Duration, downloaded: ByteSize) -> String {
    var counts = ["\(doneCount) ok", "\(failedCount) failed"]
    if cancelled > 0 { counts.append("\(cancelled) cancelled") }
    let seconds = elapsed / .seconds(1)
    let items = total == 1 ? "item" : "items"
    var lines = [
      "\(total) \(items): \(counts.joined(separator: ", ")) in \(seconds.text(places: 1)) s;"
        + " \(downloaded) downloaded"
    ]
    if !done.isEmpty { lines.append("  ok: " + Self.list(done.map { ($0.rawValue, $1) })) }
    if !failed.isEmpty {
      lines.append("  failed: " + Self.list(failed.map { ($0.isRetryable ? "\($0)*" : "\($0)", $1) }))
    }
    if exitCode == 75 { lines.append("  (* worth retrying)") }
    return lines.joined(separator: "\n")
  }

  /// `5 http_404, 3 tls`: the most frequent first.
  private static func list(_ counts: [(name: String, count: Int)]) -> String {
    counts.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
  }
}
