/// A destination for report lines.
protocol ReportOutput: Sendable {
  /// Discards the old contents. Called once, when nothing can prevent the run anymore.
  func begin()
  /// Appends `line`, which describes the row at `position` in the batch, from 0. After an error, every call throws that
  /// error again and writes nothing.
  func append(_ line: ReportLine, position: Int) throws(OutputError)
  /// Ends the report with a line that says if every row is in it, and of which `list` it is, if that is known.
  func finish(_ coverage: Coverage, of list: ListEnd?) throws(OutputError)
}

extension ReportOutput {
  /// Ends a report whose rows are not those of a list.
  func finish(_ coverage: Coverage) throws(OutputError) { try finish(coverage, of: nil) }
}

/// The list of a complete run.
struct ListEnd: Hashable, Sendable {
  /// The number of rows, in all shards.
  var rows: Int
  /// The ``ListDigest`` of the rows; nil if it is unknown.
  var digest: String?
  /// The shard that the report is of; nil for one of the whole list.
  var shard: Shard?
}

/// The part of the rows that a run has read.
enum Coverage: Hashable, Sendable {
  /// Every row is in the report.
  case complete
  /// The run ended after this many rows, before it had read all of them.
  case partial(rows: Int)
}

extension Coverage {
  /// The shortest last line of a partial report, for a full disk.
  static let shortestEnd = Array("{\"complete\":false}\n".utf8)

  /// Returns the last line of a report with `items` rows. A report without it was cut.
  func json(items: Int, of list: ListEnd? = nil) -> [UInt8] {
    var text = JSONText(capacity: 128)
    text.object { text in
      switch self {
      case .complete:
        text.member("complete", true)
        list?.write(to: &text)
        text.member("items", items)
      case .partial(let rows):
        text.member("complete", false)
        text.member("items", rows)
        text.member("message", "The run ended before it had read every row; run thumbs fetch again for the rest.")
      }
    }
    text.endLine()
    return text.bytes
  }
}

extension ListEnd {
  fileprivate func write(to text: inout JSONText) {
    text.member("rows", rows)
    if let digest { text.member("list", digest) }
    if let shard {
      text.member("shard", shard.description)
      text.member("by", shard.key.rawValue)
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
