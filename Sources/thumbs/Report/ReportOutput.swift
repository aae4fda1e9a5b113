/// A report that is being written.
protocol ReportOutput: Sendable {
  /// Drops what was there before. Called once, when nothing can keep the run from taking place.
  func begin()
  /// Adds `line`, which is about the row that came at `position` of the batch, from 0. After an error, nothing more is
  /// written and every call throws that error again.
  func append(_ line: ReportLine, position: Int) throws(OutputError)
  /// Ends the report, which holds every row of the run, or says that it does not.
  func finish(_ coverage: Coverage) throws(OutputError)
}

/// The share of its rows that a run has read.
enum Coverage: Hashable, Sendable {
  /// Every row is in the report.
  case complete
  /// The run ended after so many rows, before it had read all of them.
  case partial(rows: Int)
}

extension Coverage {
  /// The last line of a partial report on a full disk.
  static let shortestEnd = Array("{\"complete\":false}\n".utf8)

  /// The last line of a report that does not hold every row; empty for one that does.
  var json: [UInt8] {
    guard case .partial(let rows) = self else { return [] }
    var text = JSONText(capacity: 128)
    text.object { text in
      text.member("complete", false)
      text.member("items", rows)
      text.member("message", "The run ended before it had read every row; fetch the manifest again for the rest.")
    }
    text.endLine()
    return text.bytes
  }
}
