/// The rows of a CSV or TSV file that has a header row. Empty lines are skipped.
struct DelimitedRows: RowSource {
  private struct Record {
    var line: Int
    var fields: Result<[String], LineFlaw>
  }

  private var lines: LineReader
  private var parser: DelimitedParser
  private let dialect: DelimitedParser.Dialect
  private let urlList: String
  private var columnCount = 0
  /// The positions of the columns; nil for a column that the header row lacks.
  private var urlColumn: Int?
  private var nameColumn: Int?
  private var subtitleColumn: Int?
  private var optionColumns: [OptionColumn] = []
  private var optionPlaces: [OptionColumn: Int] = [:]

  /// Reads the header row from `lines`, whose columns are called as in `keys`. Throws if it has no URL column.
  init(_ lines: LineReader, dialect: DelimitedParser.Dialect, keys: ManifestKeys) throws(ManifestError) {
    self.lines = lines
    self.parser = DelimitedParser(dialect)
    self.dialect = dialect
    self.urlList = keys.urlList
    guard let header = try nextRecord() else { throw ManifestError(lines.name, "there is no header row") }
    let columns: [String]
    switch header.fields {
    case .success(let fields): columns = fields.map { $0.trimmingWhitespace() }
    case .failure(let flaw): throw ManifestError(lines.name, at: .line(header.line), flaw.reason)
    }
    urlColumn = Self.place(of: keys.url, in: columns)
    nameColumn = Self.place(of: keys.name, in: columns)
    subtitleColumn = Self.place(of: keys.subtitle, in: columns)
    columnCount = columns.count
    for column in keys.options { optionPlaces[column] = columns.firstIndex(of: column.name) }
    optionColumns = keys.options.filter { optionPlaces[$0] != nil }
    guard urlColumn != nil || optionColumns.contains(where: { $0.column == .urls }) else {
      throw ManifestError(
        lines.name, at: .line(header.line),
        "the header row has no column named \(urlList); name the URL column with --url-column")
    }
  }

  private static func place(of keys: [String], in columns: [String]) -> Int? {
    keys.lazy.compactMap { columns.firstIndex(of: $0) }.first
  }

  /// Returns the next row; nil after the last.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    guard let record = try nextRecord() else { return nil }
    switch record.fields {
    case .success(let fields): return item(fields, line: record.line)
    case .failure(let flaw): return ManifestItem(line: record.line, content: .bad(flaw.reason))
    }
  }

  private func item(_ fields: [String], line: Int) -> ManifestItem {
    func field(_ column: Int?) -> String? { column.flatMap { fields.indices.contains($0) ? fields[$0] : nil } }
    let name = field(nameColumn)
    do throws(RowFlaw) {
      try checkCount(of: fields)
      var options = optionColumns.isEmpty ? RowOptions() : try RowOptions(optionColumns) { field(optionPlaces[$0]) }
      options.subtitle = field(subtitleColumn)
      let own = field(urlColumn)
      if own == nil, options.mirrors.isEmpty {
        throw RowFlaw(reason: "no URL: the row ends before the URL column")
      }
      let isEmpty = own?.trimmingWhitespace().isEmpty ?? true
      let url = try options.takeURL(own: isEmpty && !options.mirrors.isEmpty ? nil : own, columns: urlList)
      return ManifestItem(line: line, name: name, content: .url(url), options: options)
    } catch {
      return ManifestItem(line: line, name: name, content: .bad(error.reason))
    }
  }

  /// Throws if the row has more fields than the header row. Such a row was split in the wrong place, for example at an
  /// unquoted comma inside a URL. Short rows are fine, and so are trailing empty fields, which spreadsheets write.
  private func checkCount(of fields: [String]) throws(RowFlaw) {
    guard fields.count > columnCount, fields[columnCount...].contains(where: { !$0.isEmpty }) else { return }
    let advice = dialect == .csv ? "put a field that contains a comma in quotes" : "a field cannot contain a tab"
    throw RowFlaw(reason: "\(fields.count) fields, but the header row has \(columnCount); \(advice)")
  }

  /// Returns the next record that is not an empty line; nil at the end.
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
    return Record(line: firstLine, fields: .failure(LineFlaw(reason: "a quote is opened but never closed")))
  }

  private func record(_ fields: [[UInt8]], line: Int) -> Record {
    let texts = fields.compactMap { String(validating: $0, as: UTF8.self) }
    guard texts.count == fields.count else {
      return Record(line: line, fields: .failure(LineFlaw(reason: "the line is not valid UTF-8")))
    }
    return Record(line: line, fields: .success(texts))
  }
}
