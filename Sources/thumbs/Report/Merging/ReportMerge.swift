/// The lines of several reports, reduced to what decides which of them are kept. A plain value.
///
/// Memory: 24 bytes per line; while it grows and while the lines are sorted, up to three times that.
struct ReportMerge {
  /// A reason why reports cannot be merged.
  enum Flaw: Error, Hashable, Sendable {
    /// The lines of a row have different URLs.
    case differentURLs(index: Int, reports: [Int])
    /// A row is beyond the end of the list.
    case beyondEnd(index: Int, report: Int)
  }

  /// The index that no row reaches. A greater number is not exact in every JSON parser (RFC 8259, section 6).
  static let indexLimit = 1 << 53

  private struct Line {
    let index: Int
    /// A hash of the URL; 0 without one.
    let url: UInt32
    let number: UInt32
    let report: UInt16
    /// The place of the status in ``ReportMerge/order``.
    let rank: UInt8
  }

  /// The statuses, best first.
  private static let order: [ReportLine.Status] = [.ok, .failed, .cancelled]

  private var lines: [Line] = []

  /// Adds the row in line `number` of the report with the number `report`. Returns false if the row cannot be one of a
  /// run, because its index or its line is out of range.
  mutating func add(_ row: ReportRow, number: Int, report: Int) -> Bool {
    guard (0..<Self.indexLimit).contains(row.index), let number = UInt32(exactly: number) else { return false }
    let url = row.url.map { UInt32(truncatingIfNeeded: $0.byteHash) | 1 } ?? 0
    let rank = UInt8(Self.order.firstIndex(of: row.status) ?? 0)
    lines.append(Line(index: row.index, url: url, number: number, report: UInt16(clamping: report), rank: rank))
    return true
  }

  /// Chooses the lines to keep. If the number of rows in `list` is unknown, it is the greatest index and one.
  mutating func resolve(_ list: MergedList) throws(Flaw) -> MergedReports {
    lines.sort { ($0.index, $0.rank, $1.report, $1.number) < ($1.index, $1.rank, $0.report, $0.number) }
    var merged = MergedReports(list)
    var rest = lines[...]
    while let best = rest.first {
      let same = rest.prefix { $0.index == best.index }
      rest = rest[same.endIndex...]
      try check(same, total: list.rows)
      merged.missing.append(merged.end..<best.index)
      merged.keep(best.index, Self.order[Int(best.rank)], line: best.number, of: Int(best.report))
      if same.count > 1 { merged.repeated.append(best.index..<best.index + 1) }
    }
    if let total = list.rows { merged.missing.append(merged.end..<max(merged.end, total)) }
    merged.sortLines()
    return merged
  }

  private func check(_ same: ArraySlice<Line>, total: Int?) throws(Flaw) {
    guard let best = same.first else { return }
    if let total, best.index >= total { throw .beyondEnd(index: best.index, report: Int(best.report)) }
    guard same.count > 1, let known = same.first(where: { $0.url != 0 }),
      let other = same.first(where: { $0.url != 0 && $0.url != known.url })
    else { return }
    throw .differentURLs(index: best.index, reports: [Int(known.report), Int(other.report)])
  }
}

/// The result of a merge: the lines to keep.
struct MergedReports: Hashable, Sendable {
  /// The numbers of the lines to keep, ascending, by the number of the report.
  private(set) var lines: [Int: [UInt32]] = [:]
  /// The number of rows with each status.
  private(set) var counts: [ReportLine.Status: Int] = [:]
  /// The rows that have several lines.
  var repeated = IndexRanges()
  /// The rows that have no line.
  var missing = IndexRanges()
  /// The greatest index and one.
  private(set) var end = 0

  /// The list, if a report or the user describes it.
  let list: MergedList

  fileprivate init(_ list: MergedList) { self.list = list }

  /// True if every row is there.
  var isComplete: Bool { missing.count == 0 && !list.lacksEnd }

  /// The list for the last line; nil if nothing says how many rows it has.
  var listEnd: ListEnd? { list.rows.map { ListEnd(rows: $0, digest: list.digest) } }

  /// The number of rows to keep.
  var count: Int { counts.values.reduce(0, +) }

  fileprivate mutating func keep(_ index: Int, _ status: ReportLine.Status, line: UInt32, of report: Int) {
    lines[report, default: []].append(line)
    counts[status, default: 0] += 1
    end = index + 1
  }

  fileprivate mutating func sortLines() {
    for report in lines.keys { lines[report]?.sort() }
  }
}
