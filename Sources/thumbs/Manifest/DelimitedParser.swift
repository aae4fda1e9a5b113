/// Puts the lines of a CSV (RFC 4180) or TSV file together to records, one line at a time.
///
/// In CSV a field may stand in quotes; inside, a comma and a line end are part of it, and two quotes are one.
/// A quote in the middle of an unquoted field is an ordinary character. In TSV nothing is quoted.
struct DelimitedParser: Hashable, Sendable {
  /// What stands between two fields.
  enum Dialect: Hashable, Sendable {
    /// Commas, and quotes around fields.
    case csv
    /// Tabs alone.
    case tsv
  }

  private enum State: Hashable, Sendable {
    case fieldStart, unquoted, quoted, quoteInQuoted
  }

  private let dialect: Dialect
  private var state = State.fieldStart
  private var fields: [[UInt8]] = []
  private var field: [UInt8] = []

  /// A parser before the first record.
  init(_ dialect: Dialect) {
    self.dialect = dialect
  }

  /// Whether a quote is open, so that the record goes on with the next line.
  var isInsideQuotes: Bool { state == .quoted }

  /// Bytes of the record that is not complete yet.
  var pendingCount: Int { fields.reduce(field.count) { $0 + $1.count } }

  /// Takes one line; returns the fields of the record that ends with it, or nil where the record goes on.
  mutating func take(_ line: [UInt8]) -> [[UInt8]]? {
    if state == .quoted { field.append(0x0A) }
    for byte in line { take(byte) }
    return isInsideQuotes ? nil : finish()
  }

  /// Gives up the open quote: the fields so far are the record.
  mutating func finish() -> [[UInt8]] {
    endField()
    defer { fields = [] }
    return fields
  }

  private mutating func take(_ byte: UInt8) {
    let separator: UInt8 = dialect == .csv ? 0x2C : 0x09
    switch (state, byte) {
    case (.quoted, 0x22): state = .quoteInQuoted
    case (.quoted, _): field.append(byte)
    case (.quoteInQuoted, 0x22):
      field.append(byte)
      state = .quoted
    case (_, separator): endField()
    case (.fieldStart, 0x22) where dialect == .csv: state = .quoted
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
