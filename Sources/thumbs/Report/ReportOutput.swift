/// A destination for report lines.
protocol ReportOutput: Sendable {
  /// Discards the old contents. Called once, when nothing can prevent the run anymore.
  func begin()
  /// Appends `line`, which describes the row at `position` in the batch, from 0. After an error, every call throws that
  /// error again and writes nothing.
  func append(_ line: ReportLine, position: Int) throws(OutputError)
  /// Ends the report. If `coverage` is partial, or if the rows are those of a `shard`, the report then says so.
  func finish(_ coverage: Coverage, of shard: ShardEnd?) throws(OutputError)
}

extension ReportOutput {
  /// Ends a report whose rows are not those of a shard.
  func finish(_ coverage: Coverage) throws(OutputError) { try finish(coverage, of: nil) }
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

  /// The last line of a partial report; empty for a complete one.
  var json: [UInt8] {
    guard case .partial(let rows) = self else { return [] }
    var text = JSONText(capacity: 128)
    text.object { text in
      text.member("complete", false)
      text.member("items", rows)
      text.member("message", "The run ended before it had read every row; run thumbs fetch again for the rest.")
    }
    text.endLine()
    return text.bytes
  }
}
