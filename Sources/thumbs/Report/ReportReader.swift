/// Reads a report line by line, in constant memory.
struct ReportReader {
  /// A line with a row.
  struct Line {
    /// The members of the row.
    let row: ReportRow
    /// The JSON text of the line.
    let text: String
    /// The number of the line, from 1.
    let number: Int
  }

  /// True if the report says that rows of its run are missing.
  var isPartial: Bool { proof.isPartial }
  /// True if the report does not prove that every row is there. Known at its end.
  var isUnproven: Bool { proof.isCut }
  /// The lists of which the report says that it is complete, or one of their shards: one for each last line, as several
  /// reports may be in one file.
  private(set) var lists: [ReportedList] = []
  /// True if the last line is not finished. It is ignored: the process was killed, or is still writing it.
  private(set) var isCut = false
  private var proof = ReportProof()
  private var lines: LineReader

  /// Opens the report at `path`, which may be compressed with gzip; `-` is standard input.
  init(path: String) throws(ManifestError) {
    self.init(LineReader(try .open(path, expecting: "a report").unpacked(), longestLine: RetryReport.longestLine))
  }

  /// Reads the report in `lines`.
  init(_ lines: LineReader) { self.lines = lines }

  /// Returns the next row; nil after the last.
  ///
  /// - Throws: An error for a line that is not one of a report, and after which the file goes on.
  mutating func next() throws(ManifestError) -> Line? {
    while let line = try lines.next(skipping: .spaces) {
      guard let bytes = line.bytes else { throw ManifestError(lines.name, at: .line(line.number), "is too long") }
      if bytes.allSatisfy({ $0 == 0x20 }) { continue }
      do throws(DocumentFlaw) {
        let value = try JSONDocument.parse(bytes)
        if let row = ReportRow(value) {
          proof.addRow()
          return Line(row: row, text: String(decoding: bytes, as: UTF8.self), number: line.number)
        }
        guard let end = value as? [String: Any], proof.addEnd(end) else {
          throw DocumentFlaw(reason: "it has no index and status")
        }
        if let list = ReportedList(end) { lists.append(list) }
      } catch {
        guard !line.isEnded, line.number > 1 || Self.isStart(bytes) else {
          throw ManifestError(lines.name, at: .line(line.number), "not a report line: \(error.reason)")
        }
        isCut = true
        proof.addPart()
      }
    }
    return nil
  }

  /// True if `bytes` are the beginning of a line: nothing else tells a report that was cut in its first line from
  /// another file.
  private static func isStart(_ bytes: [UInt8]) -> Bool {
    [#"{"index":"#, #"{"complete":"#].contains { bytes.starts(with: $0.utf8) || $0.utf8.starts(with: bytes) }
  }
}
