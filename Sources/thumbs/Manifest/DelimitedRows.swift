/// The rows of a CSV or TSV file that has a header row. Empty lines are skipped. Case does not matter in the names of
/// columns.
struct DelimitedRows: RowSource {
  private struct Record {
    var line: Int
    var fields: Result<[String], ParseError>
  }

  private var lines: LineReader
  private var parser: DelimitedParser
  private var dialect: DelimitedParser.Dialect
  /// A line that was read ahead.
  private var pending: LineReader.Line?
  private let urlList: String
  private var columnCount = 0
  /// The positions of the columns; nil for a column that the header row lacks.
  private var urlColumn: Int?
  private var nameColumn: Int?
  private var subtitleColumn: Int?
  private var optionColumns: [OptionColumn] = []
  private var optionPlaces: [OptionColumn: Int] = [:]
  private var decoder = TextDecoder()
  /// The header row; empty if there is none.
  private var headerFields: [String] = []

  /// Reads the header row from `lines`, whose columns are called as in `keys`. Throws if it has no URL column. A file
  /// without any row is an empty list. CSV is split at the first of comma, semicolon and tab that gives the header row
  /// a URL column. A line such as `sep=;`, as Excel writes it, names the separator to try first.
  init(_ lines: LineReader, dialect: DelimitedParser.Dialect, keys: ManifestKeys) throws(InputError) {
    self.lines = lines
    self.parser = DelimitedParser(dialect)
    self.dialect = dialect
    self.urlList = keys.urlList
    try chooseDialect(keys)
    guard let header = try nextRecord() else { return }
    switch header.fields {
    case .success(let fields):
      headerFields = fields.map { $0.trimmingWhitespace() }
      setColumns(fields, keys)
    case .failure(let flaw): throw InputError(lines.name, at: .line(header.line), flaw.reason)
    }
    guard hasURLColumn else {
      throw InputError(
        lines.name, at: .line(header.line),
        "the header row has no column named \(urlList); name the URL column with --url-column, one of "
          + headerFields.joined(separator: ", ").printable)
    }
  }

  /// Reads the header row ahead, and chooses the separator by it.
  private mutating func chooseDialect(_ keys: ManifestKeys) throws(InputError) {
    try readAhead()
    guard dialect != .tsv else { return }
    let declared = pending?.bytes.flatMap(Self.separator(declaredIn:))
    if declared != nil { try readAhead() }
    guard let bytes = pending?.bytes else { return }
    let candidates = declared.map { [DelimitedParser.Dialect.quoted(separator: $0)] } ?? []
    for candidate in candidates + DelimitedParser.Dialect.spreadsheets {
      var parser = DelimitedParser(candidate)
      let fields = parser.take(bytes) ?? parser.finish()
      setColumns(fields.map { String(decoding: $0, as: UTF8.self) }, keys)
      guard hasURLColumn else { continue }
      (dialect, self.parser) = (candidate, DelimitedParser(candidate))
      return
    }
  }

  /// Reads the next line that is not empty ahead.
  private mutating func readAhead() throws(InputError) {
    pending = nil
    while pending == nil, let line = try lines.next(skipping: .spaces) {
      if line.bytes?.allSatisfy({ $0 == 0x20 }) != true { pending = line }
    }
  }

  /// Returns the separator that `line` declares: `sep=;`, also in quotes. Nil for any other line.
  private static func separator(declaredIn line: [UInt8]) -> UInt8? {
    let text = line.filter { $0 != UInt8(ascii: "\"") }
    guard text.count == 5, String(decoding: text[..<4], as: UTF8.self).lowercased() == "sep=" else { return nil }
    return text[4]
  }

  private mutating func setColumns(_ fields: [String], _ keys: ManifestKeys) {
    let columns = fields.map { $0.trimmingWhitespace() }
    urlColumn = Self.place(of: keys.url, in: columns) ?? keys.guess(among: columns).flatMap(columns.firstIndex)
    nameColumn = Self.place(of: keys.name, in: columns)
    subtitleColumn = Self.place(of: keys.subtitle, in: columns)
    columnCount = columns.count
    optionPlaces = [:]
    for column in keys.options { optionPlaces[column] = Self.place(of: [column.name], in: columns) }
    optionColumns = keys.options.filter { optionPlaces[$0] != nil }
  }

  var found: String {
    headerFields.isEmpty
      ? "it is empty" : "it has only a header row (\(headerFields.joined(separator: ", ").printable))"
  }

  private var hasURLColumn: Bool { urlColumn != nil || optionColumns.contains { $0.column == .urls } }

  /// Returns the place of the first of `keys` that is a column, in its own case or else in any.
  private static func place(of keys: [String], in columns: [String]) -> Int? {
    let lowercased = columns.map { $0.lowercased() }
    return keys.lazy.compactMap { key in
      columns.firstIndex(of: key) ?? lowercased.firstIndex(of: key.lowercased())
    }.first
  }

  /// Returns the next row; nil after the last.
  mutating func next() throws(InputError) -> ManifestItem? {
    guard let record = try nextRecord() else { return nil }
    switch record.fields {
    case .success(let fields): return item(fields, line: record.line)
    case .failure(let flaw): return ManifestItem(line: record.line, content: .bad(flaw.reason))
    }
  }

  private func item(_ fields: [String], line: Int) -> ManifestItem {
    func field(_ column: Int?) -> String? { column.flatMap { fields.indices.contains($0) ? fields[$0] : nil } }
    let name = field(nameColumn)
    do throws(ParseError) {
      try checkCount(of: fields)
      var options = optionColumns.isEmpty ? RowOptions() : try RowOptions(optionColumns) { field(optionPlaces[$0]) }
      options.subtitle = field(subtitleColumn)
      let own = field(urlColumn)
      if own == nil, options.mirrors.isEmpty {
        throw ParseError(reason: "no URL: the row ends before the URL column")
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
  private func checkCount(of fields: [String]) throws(ParseError) {
    guard fields.count > columnCount, fields[columnCount...].contains(where: { !$0.isEmpty }) else { return }
    let advice =
      dialect == .tsv ? "a field cannot contain a tab" : "put a field that contains a \(separatorName) in quotes"
    throw ParseError(reason: "\(fields.count) fields, but the header row has \(columnCount); \(advice)")
  }

  private var separatorName: String {
    switch dialect {
    case .quoted(UInt8(ascii: ";")): "semicolon"
    case .csv: "comma"
    case .quoted(UInt8(ascii: "\t")), .tsv: "tab"
    case .quoted(let byte): "'\(Character(Unicode.Scalar(byte)))'"
    }
  }

  private mutating func nextLine() throws(InputError) -> LineReader.Line? {
    if let line = pending.take() { return line }
    return try lines.next(skipping: parser.isInsideQuotes ? .nothing : .spaces)
  }

  /// Returns the next record that is not an empty line; nil at the end.
  private mutating func nextRecord() throws(InputError) -> Record? {
    var firstLine: Int?
    while let line = try nextLine() {
      guard let bytes = line.bytes else {
        _ = parser.finish()
        return Record(line: firstLine ?? line.number, fields: .failure(ParseError(reason: "the line is too long")))
      }
      if firstLine == nil, bytes.allSatisfy({ $0 == 0x20 }) { continue }
      firstLine = firstLine ?? line.number
      if let fields = parser.take(bytes) { return record(fields, line: firstLine ?? line.number) }
      if parser.pendingCount > LineReader.longestLine { break }
    }
    guard let firstLine else { return nil }
    _ = parser.finish()
    return Record(line: firstLine, fields: .failure(ParseError(reason: "a quote is opened but never closed")))
  }

  private mutating func record(_ fields: [[UInt8]], line: Int) -> Record {
    let texts = fields.compactMap { decoder.text($0) }
    guard texts.count == fields.count else {
      return Record(line: line, fields: .failure(ParseError(reason: "the line is not valid UTF-8")))
    }
    return Record(line: line, fields: .success(texts))
  }
}

/// Assembles the lines of a CSV (RFC 4180) or TSV file into records. Many spreadsheets write CSV with semicolons.
///
/// In CSV a field may be quoted. A quoted field may contain commas and line ends, and a doubled quote in it stands for
/// one quote. A quote inside an unquoted field is an ordinary character. In TSV, quotes have no meaning.
struct DelimitedParser: Hashable, Sendable {
  /// The separator between fields, and whether fields can be quoted.
  enum Dialect: Hashable, Sendable {
    /// Fields that may be quoted, with this byte between them.
    case quoted(separator: UInt8)
    /// Tab-separated fields, never quoted.
    case tsv

    /// Comma-separated fields, which may be quoted.
    static let csv = Dialect.quoted(separator: UInt8(ascii: ","))
    /// The dialects of files that are called CSV, the most common first.
    static let spreadsheets = ",;\t".utf8.map { Dialect.quoted(separator: $0) }

    fileprivate var separator: UInt8 { if case .quoted(let separator) = self { separator } else { 0x09 } }
    fileprivate var hasQuotes: Bool { self != .tsv }
  }

  private enum State: Hashable, Sendable {
    case fieldStart, unquoted, quoted, quoteInQuoted
  }

  private let separator: UInt8
  private let hasQuotes: Bool
  private var state = State.fieldStart
  private var fields: [[UInt8]] = []
  private var field: [UInt8] = []

  /// Creates a parser that is ready for the first record.
  init(_ dialect: Dialect) {
    separator = dialect.separator
    hasQuotes = dialect.hasQuotes
  }

  /// True if a quote is open, so that the record continues on the next line.
  var isInsideQuotes: Bool { state == .quoted }

  /// The number of bytes in the incomplete record.
  var pendingCount: Int { fields.reduce(field.count) { $0 + $1.count } }

  /// Parses one line. Returns the fields of the record that ends with it, or nil if the record continues.
  mutating func take(_ line: [UInt8]) -> [[UInt8]]? {
    if state == .quoted { field.append(0x0A) }
    for byte in line { take(byte) }
    return isInsideQuotes ? nil : finish()
  }

  /// Ends the record even if a quote is open, and returns its fields.
  mutating func finish() -> [[UInt8]] {
    endField()
    defer { fields = [] }
    return fields
  }

  private mutating func take(_ byte: UInt8) {
    switch (state, byte) {
    case (.quoted, 0x22): state = .quoteInQuoted
    case (.quoted, _): field.append(byte)
    case (.quoteInQuoted, 0x22):
      field.append(byte)
      state = .quoted
    case (_, separator): endField()
    case (.fieldStart, 0x22) where hasQuotes: state = .quoted
    default:
      field.append(byte)
      state = .unquoted
    }
  }

  private mutating func endField() {
    fields.append(field)
    field = []
    state = .fieldStart
  }
}
