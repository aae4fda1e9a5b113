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
