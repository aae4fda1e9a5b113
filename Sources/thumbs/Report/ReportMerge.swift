import ArgumentParser

/// The lines of several reports, reduced to what decides which of them are kept. A plain value.
///
/// Memory: 24 bytes per line; while it grows and while the lines are sorted, up to three times that.
struct ReportMerge {
  /// A reason why reports cannot be merged.
  enum Failure: Error, Hashable, Sendable {
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
  mutating func resolve(_ list: MergedList) throws(Failure) -> MergedReports {
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

  private func check(_ same: ArraySlice<Line>, total: Int?) throws(Failure) {
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

/// The files that a merge writes. They are opened and compared with the reports before any of them is changed.
struct MergeFiles: Sendable {
  private let output: NamedFile
  private let summary: NamedFile?

  /// Opens the files at the paths `output` and `summary`; `-` is standard output.
  ///
  /// - Throws: An `OutputError` if a file cannot be created, or, unless `mayReplaceAny`, must not be replaced, and a
  ///   `ValidationError` if it is one of the `sources`, or if both are the same.
  init(output: String, summary: String?, sources: [ReportSource], mayReplaceAny: Bool) throws {
    self.output = try NamedFile(path: output)
    do {
      self.summary = try summary.map { path throws(OutputError) in try NamedFile(path: path) }
    } catch {
      self.output.discard()
      throw error
    }
    do {
      try check(sources, mayReplaceAny: mayReplaceAny)
    } catch {
      discard()
      throw error
    }
  }

  private func check(_ sources: [ReportSource], mayReplaceAny: Bool) throws {
    var known = Set(sources.compactMap(\.identity))
    let files = [(output, GeneratedFile.report)] + (summary.map { [($0, GeneratedFile.summary)] } ?? [])
    for (file, kind) in files {
      if let identity = file.identity, !known.insert(identity).inserted {
        throw ValidationError("\(file.name) has another use in this command; give the result a file of its own.")
      }
      guard !mayReplaceAny, let path = file.path else { continue }
      if !kind.mayReplace(file) { throw OutputError(.create, path, .notOwn) }
    }
  }

  /// Removes the files that did not exist before.
  func discard() {
    output.discard()
    summary?.discard()
  }

  /// Writes the lines of `merged`, which are those of `sources`, and the summary, which names the `exit` status.
  ///
  /// - Throws: A `InputError` if a report has changed since it was read; then the result says that it is partial.
  func write(_ merged: MergedReports, from sources: [ReportSource], exit: ExitCode) throws {
    output.empty()
    let writer = ReportWriter(output)
    var written = 0
    do {
      for (number, source) in sources.enumerated() {
        try source.forEach(of: merged.lines[number] ?? []) { line in
          try writer.append(copyOf: line)
          written += 1
        }
      }
    } catch {
      try? writer.finish(.partial(rows: written))
      throw error
    }
    try writer.finish(merged.isComplete ? .complete : .partial(rows: merged.count), of: merged.listEnd)
    let json = merged.json(reports: sources.count, exit: exit.rawValue)
    try summary.map { file throws(OutputError) in try SummaryFile(file: file).write(json) }
  }
}

/// The list to which merged reports belong, as far as they and the user describe it. A plain value.
struct MergedList: Hashable, Sendable {
  /// The number of rows; nil if it is unknown.
  private(set) var rows: Int?
  /// The digest of the rows; nil if no report has it.
  private(set) var digest: String?
  /// True if a report says that rows are missing, or was cut, or may have been.
  private(set) var hasPartialReport = false

  /// The reports, or the option, that the number and the digest are from.
  private var (rowsSource, digestSource) = ("--rows", "")

  /// - Parameter rows: The number of rows if the user gives it.
  init(rows: Int?) { self.rows = rows }

  /// True if nothing says where the list ends, while rows may be missing there.
  var lacksEnd: Bool { rows == nil && hasPartialReport }

  /// Adds a report that has been read to its end.
  ///
  /// - Throws: A `InputError` if it is one of another list.
  mutating func add(_ report: ReportReader, name: String) throws(InputError) {
    if report.isUnproven || report.isPartial { hasPartialReport = true }
    for list in report.lists { try add(list, name: name) }
  }

  private mutating func add(_ list: ReportedList, name: String) throws(InputError) {
    if let rows, rows != list.rows {
      throw InputError(name, "is of a list with \(list.rows) rows, but \(rowsSource) has \(rows)")
    }
    if rows == nil { (rows, rowsSource) = (list.rows, name) }
    guard let digest = list.digest else { return }
    if let known = self.digest, known != digest {
      throw InputError(name, "is of another list than \(digestSource), or the list was changed between the runs")
    }
    if self.digest == nil { (self.digest, digestSource) = (digest, name) }
  }
}

extension MergedReports {
  /// The number of ranges of indexes in the text.
  private static let shownRanges = 20

  /// Returns sentences about the merge of `reports` for people, one per line.
  func text(reports: Int) -> [String] {
    let cancelled = counts[.cancelled].map { ", \($0.grouped) canceled" } ?? ""
    let (ok, failed) = ((counts[.ok] ?? 0).grouped, (counts[.failed] ?? 0).grouped)
    var lines = [
      "\(reports) \(reports == 1 ? "report has" : "reports have") \(Self.rows(count)): \(ok) ok, \(failed) failed"
        + "\(cancelled)."
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

  private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count.grouped) rows" }

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

/// Ascending indexes of rows, as ranges.
struct IndexRanges: Hashable, Sendable {
  /// The ranges, in ascending order. No two of them touch each other.
  private(set) var ranges: [ClosedRange<Int>] = []
  /// The number of indexes.
  private(set) var count = 0

  /// Adds `indexes`, which are greater than all others.
  mutating func append(_ indexes: Range<Int>) {
    guard let last = indexes.last else { return }
    count += indexes.count
    if let previous = ranges.last, previous.upperBound + 1 == indexes.lowerBound {
      ranges[ranges.count - 1] = previous.lowerBound...last
    } else {
      ranges.append(indexes.lowerBound...last)
    }
  }

  /// Returns `3, 9-12`, or `3, 9-12 and 7 others` if there are more than `limit` ranges.
  func text(limit: Int) -> String {
    let shown = ranges.prefix(limit)
    let list = shown.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    let others = count - shown.reduce(0) { $0 + $1.count }
    return list.joined(separator: ", ") + (others > 0 ? " and \(others) others" : "")
  }
}

extension JSONText {
  /// Writes a member with an array of pairs: the first and the last index of each range.
  mutating func member(_ key: StaticString, _ ranges: [ClosedRange<Int>]) {
    self.key(key)
    array { text in
      for range in ranges {
        text.array { text in
          text.value(range.lowerBound)
          text.value(range.upperBound)
        }
      }
    }
  }
}
