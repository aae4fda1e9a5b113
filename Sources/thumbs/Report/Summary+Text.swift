import BatchFetch

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
