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
