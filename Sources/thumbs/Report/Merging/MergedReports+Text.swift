extension MergedReports {
  /// The number of ranges of indexes in the text.
  private static let shownRanges = 20

  /// Returns sentences about the merge of `reports` for people, one per line.
  func text(reports: Int) -> [String] {
    let cancelled = counts[.cancelled].map { ", \($0) cancelled" } ?? ""
    var lines = [
      "\(reports) \(reports == 1 ? "report has" : "reports have") \(Self.rows(count)): \(counts[.ok] ?? 0) ok, "
        + "\(counts[.failed] ?? 0) failed\(cancelled)."
    ]
    if repeated.count > 0 {
      let (verb, list) = (repeated.count == 1 ? "has" : "have", repeated.text(limit: Self.shownRanges))
      lines.append("\(Self.rows(repeated.count)) \(verb) several lines, of which the best was kept: \(list).")
    }
    if missing.count > 0 {
      let verb = missing.count == 1 ? "is" : "are"
      lines.append("\(Self.rows(missing.count)) \(verb) missing: \(missing.text(limit: Self.shownRanges)).")
    }
    if list.lacksEnd {
      lines.append("A report is partial, and none says how many rows the list has; give their number with --rows.")
    }
    return lines
  }

  private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count) rows" }

  /// Returns the merge of `reports` as one JSON object and a line feed. `exit` is the exit status of the command.
  func json(reports: Int, exit: Int32) -> [UInt8] {
    var text = JSONText()
    text.object { text in
      text.member("version", 1)
      text.member("exit", Int(exit))
      text.member("complete", isComplete)
      text.member("reports", reports)
      text.members(
        "items",
        [
          ("total", count), ("ok", counts[.ok] ?? 0), ("failed", counts[.failed] ?? 0),
          ("cancelled", counts[.cancelled] ?? 0), ("repeated", repeated.count), ("missing", missing.count),
        ])
      text.member("repeated", repeated.ranges)
      text.member("missing", missing.ranges)
    }
    text.endLine()
    return text.bytes
  }
}
