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
  private(set) var scanner = Scanner()
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
  init(_ reader: LineReader, longest: Int = ElementLimits.longest) {
    self.reader = reader
    self.longest = longest
  }

  /// Returns the next element; nil after the last.
  mutating func next() throws(ManifestError) -> Element? {
    repeat {
      do throws(DocumentFlaw) {
        if let element = try nextInChunk() { return element }
      } catch {
        throw ManifestError(reader.name, at: place(of: error), error.reason)
      }
    } while try refill()
    if scanner.isComplete { return nil }
    throw ManifestError(reader.name, at: .line(lastLine), "the \(Scanner.formatName) ends unexpectedly")
  }

  /// Returns the place in the document of an error found in `element`; nil if the error has no place.
  func place(of flaw: DocumentFlaw, in element: Element) -> ManifestError.Place? {
    let start = element.start
    switch flaw.place(in: element.bytes ?? []) {
    case .line(let line): return .line(start.line + line - 1)
    case .column(let column, 1): return .column(start.column + column - 1, line: start.line)
    case .column(let column, let line): return .column(column, line: start.line + line - 1)
    case .whole, .item: return nil
    }
  }

  private mutating func nextInChunk() throws(DocumentFlaw) -> Element? {
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

  private mutating func refill() throws(ManifestError) -> Bool {
    count += chunk.count
    (chunk, offset) = (try reader.chunk(), 0)
    return !chunk.isEmpty
  }

  private func place(of flaw: DocumentFlaw) -> ManifestError.Place {
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
