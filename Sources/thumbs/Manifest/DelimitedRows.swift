/// CSV or TSV with a header row. Empty lines are no items.
struct DelimitedRows: RowSource {
  private struct Record {
    var line: Int
    var fields: Result<[String], LineFlaw>
  }

  private var lines: LineReader
  private var parser: DelimitedParser
  private var urlColumn = 0
  private var nameColumn: Int?

  /// The rows of `lines`, with the columns of `keys`. Reads the header row; one without an address column is an error.
  init(_ lines: LineReader, dialect: DelimitedParser.Dialect, keys: ManifestKeys) throws(ManifestError) {
    self.lines = lines
    self.parser = DelimitedParser(dialect)
    guard let header = try nextRecord() else { throw ManifestError(lines.name, "there is no header row") }
    let columns: [String]
    switch header.fields {
    case .success(let fields): columns = fields.map { $0.trimmingWhitespace() }
    case .failure(let flaw): throw ManifestError(lines.name, at: .line(header.line), flaw.reason)
    }
    guard let urlColumn = keys.url.lazy.compactMap({ columns.firstIndex(of: $0) }).first else {
      throw ManifestError(
        lines.name, at: .line(header.line),
        "the header row has no column \(keys.urlList); name the column with --url-key")
    }
    self.urlColumn = urlColumn
    self.nameColumn = keys.name.lazy.compactMap { columns.firstIndex(of: $0) }.first
  }

  /// The next row.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    guard let record = try nextRecord() else { return nil }
    switch record.fields {
    case .success(let fields):
      let name = nameColumn.flatMap { fields.indices.contains($0) ? fields[$0] : nil }
      let url: ManifestItem.Content =
        fields.indices.contains(urlColumn) ? .url(fields[urlColumn]) : .bad("no URL: the row ends before its column")
      return ManifestItem(line: record.line, name: name, content: url)
    case .failure(let flaw):
      return ManifestItem(line: record.line, content: .bad(flaw.reason))
    }
  }

  /// The next record that is not an empty line, with the number of its first line.
  private mutating func nextRecord() throws(ManifestError) -> Record? {
    var firstLine: Int?
    while let line = try lines.next() {
      guard let bytes = line.bytes else {
        _ = parser.finish()
        return Record(line: firstLine ?? line.number, fields: .failure(LineFlaw(reason: "the line is too long")))
      }
      if firstLine == nil, bytes.allSatisfy({ $0 == 0x20 }) { continue }
      firstLine = firstLine ?? line.number
      if let fields = parser.take(bytes) { return record(fields, line: firstLine ?? line.number) }
      if parser.pendingCount > LineReader.longestLine { break }
    }
    guard let firstLine else { return nil }
    _ = parser.finish()
    return Record(line: firstLine, fields: .failure(LineFlaw(reason: "a quote is opened and not closed")))
  }

  private func record(_ fields: [[UInt8]], line: Int) -> Record {
    let texts = fields.compactMap { String(validating: $0, as: UTF8.self) }
    guard texts.count == fields.count else {
      return Record(line: line, fields: .failure(LineFlaw(reason: "the line is not valid UTF-8")))
    }
    return Record(line: line, fields: .success(texts))
  }
}
