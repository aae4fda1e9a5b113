/// The rows of a document that is an array: JSON or an XML plist. They are read one at a time, in memory that does not
/// grow with the document.
struct ElementRows<Scanner: ElementScanner>: RowSource {
  /// The number of bytes of a file that are checked before its first row is returned, so that a small malformed file is
  /// rejected before anything is fetched. Standard input is not checked ahead, because its rows may arrive slowly.
  private static var checkedLength: Int { 1 << 20 }

  private var elements: ElementReader<Scanner>
  private let keys: ManifestKeys
  private var checked: ArraySlice<ManifestItem> = []

  /// Opens the document in `reader`, whose columns are called as in `keys`, and checks the beginning of a file.
  init(_ reader: LineReader, scanner: Scanner = Scanner(), keys: ManifestKeys) throws(InputError) {
    elements = ElementReader(reader, scanner: scanner)
    self.keys = keys
    guard reader.isFile else { return }
    while elements.count < Self.checkedLength, let item = try nextUnchecked() { checked.append(item) }
  }

  var readAheadCount: Int { checked.count }

  var found: String { "its array is empty" }

  /// Returns the next row. A complete but invalid JSON element is a bad row, because the others can still be read.
  mutating func next() throws(InputError) -> ManifestItem? {
    if let item = checked.popFirst() { return item }
    return try nextUnchecked()
  }

  private mutating func nextUnchecked() throws(InputError) -> ManifestItem? {
    guard let element = try elements.next() else { return nil }
    guard let bytes = element.bytes else {
      return ManifestItem(content: .bad("longer than \(ByteSize(count: ElementLimits.longest))"))
    }
    do throws(ParseError) {
      return keys.item(try elements.scanner.value(of: bytes))
    } catch {
      let place = elements.place(of: error, in: element)
      if Scanner.isStrict { throw InputError(elements.name, at: place ?? .whole, error.reason) }
      return ManifestItem(content: .bad(place.map { "\(error.reason), at \($0)" } ?? error.reason))
    }
  }
}

/// Reads the elements of a document that is an array, holding one element in memory at a time.
struct ElementReader<Scanner: ElementScanner>: Sendable {
  /// An element of the array.
  struct Element: Sendable {
    /// The bytes of the element; nil if it was longer than ``ElementLimits/longest`` and was skipped.
    var bytes: [UInt8]?
    fileprivate var start: TextPosition
  }

  /// The name of the document in messages.
  var name: String { reader.name }
  /// The number of bytes scanned so far, in whole chunks.
  private(set) var count = 0
  private(set) var scanner: Scanner
  private var reader: LineReader
  private var chunk: [UInt8] = []
  private var offset = 0
  private var position = TextPosition()
  /// The line of the last byte that is not whitespace.
  private var lastLine = 1
  /// The element being collected; nil between elements.
  private var pending: Element?
  private let longest: Int

  /// Creates a reader at the first byte of the document in `reader`. An element may have up to `longest` bytes.
  init(_ reader: LineReader, scanner: Scanner = Scanner(), longest: Int = ElementLimits.longest) {
    self.reader = reader
    self.scanner = scanner
    self.longest = longest
  }

  /// Returns the next element; nil after the last.
  mutating func next() throws(InputError) -> Element? {
    repeat {
      do throws(ParseError) {
        if let element = try nextInChunk() { return element }
      } catch {
        throw InputError(reader.name, at: place(of: error), error.reason)
      }
    } while try refill()
    if scanner.isComplete { return nil }
    throw InputError(reader.name, at: .line(lastLine), "the \(Scanner.formatName) ends unexpectedly")
  }

  /// Returns the place in the document of an error found in `element`; nil if the error has no place.
  func place(of flaw: ParseError, in element: Element) -> InputError.Place? {
    let start = element.start
    switch flaw.place(in: element.bytes ?? []) {
    case .line(let line): return .line(start.line + line - 1)
    case .column(let column, 1): return .column(start.column + column - 1, line: start.line)
    case .column(let column, let line): return .column(column, line: start.line + line - 1)
    case .whole, .item: return nil
    }
  }

  private mutating func nextInChunk() throws(ParseError) -> Element? {
    while offset < chunk.count {
      let byte = chunk[offset]
      let element = take(byte, try scanner.take(byte))
      offset += 1
      position.pass(byte)
      if byte > 0x20 { lastLine = position.line }
      if let element { return element }
    }
    return nil
  }

  /// Adds `byte` to the pending element if it belongs there. Returns the element if that completes it.
  private mutating func take(_ byte: UInt8, _ step: ElementStep) -> Element? {
    defer { if step != .inside { pending = nil } }
    switch step {
    case .outside: return nil
    case .endedBefore: return pending
    case .inside, .last:
      if pending == nil { pending = Element(bytes: [], start: position) }
      let limit = longest
      pending?.append(byte, limit: limit)
      return step == .last ? pending : nil
    }
  }

  private mutating func refill() throws(InputError) -> Bool {
    count += chunk.count
    (chunk, offset) = (try reader.chunk(), 0)
    return !chunk.isEmpty
  }

  private func place(of flaw: ParseError) -> InputError.Place {
    switch flaw.position {
    case .unknown: .whole
    case .offset: .column(position.column, line: position.line)
    case .line, .end: .line(position.line)
    }
  }
}

extension ElementReader.Element {
  fileprivate mutating func append(_ byte: UInt8, limit: Int) {
    bytes?.append(byte)
    if let count = bytes?.count, count > limit { bytes = nil }
  }
}

/// A position in a text; line and column both count from 1.
private struct TextPosition: Sendable {
  var line = 1
  var column = 1

  mutating func pass(_ byte: UInt8) {
    if byte == 0x0A {
      (line, column) = (line + 1, 1)
    } else if byte & 0xC0 != 0x80 {
      // Continuation bytes of a character (RFC 3629, section 3) do not advance the column.
      column += 1
    }
  }
}

/// The role of one byte of a document in relation to the elements of its array.
enum ElementStep: Hashable, Sendable {
  /// The byte belongs to no element, and neither do the bytes collected since the last element.
  case outside
  /// The byte belongs to an element, or may turn out to.
  case inside
  /// The byte is the last of an element.
  case last
  /// The byte before this one was the last of an element.
  case endedBefore
}

/// Finds the elements of the array in a document, byte by byte, without validating their contents.
protocol ElementScanner: Sendable {
  /// The name of the format in messages.
  static var formatName: String { get }

  /// True if one invalid element makes the whole document invalid; false if it is a bad row.
  static var isStrict: Bool { get }

  /// Creates a scanner that is ready for the first byte.
  init()

  /// True if the array and everything around it have ended.
  var isComplete: Bool { get }

  /// Scans the next byte. Throws if the bytes so far cannot be the beginning of a valid document.
  mutating func take(_ byte: UInt8) throws(ParseError) -> ElementStep

  /// Parses `bytes`, an element that this scanner found.
  func value(of bytes: [UInt8]) throws(ParseError) -> Any
}

/// The limits of an element, which bound the memory that a document can take.
enum ElementLimits {
  /// The longest element, in bytes.
  static let longest = 16 << 20
  /// The deepest nesting of arrays and dictionaries.
  static let depth = 512
}
