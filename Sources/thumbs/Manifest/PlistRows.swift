import Foundation

/// The rows of an XML plist.
enum PlistRows {
  /// The size limit of a UTF-16 plist, in bytes. It is converted to UTF-8 in memory, all at once.
  static let longestUTF16 = 64 << 20

  /// Opens the plist in `reader`, which begins with `start`.
  static func xml(
    _ reader: LineReader, startingWith start: ArraySlice<UInt8>, keys: ManifestKeys
  ) throws(InputError) -> ElementRows<PlistArrayScanner> {
    if start.contains(0) || start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) {
      return try ElementRows(inUTF8(reader), keys: keys)
    }
    guard start.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else { throw notXML(reader, start) }
    return try ElementRows(reader, keys: keys)
  }

  /// The error that Foundation reports for `start`.
  private static func notXML(_ reader: LineReader, _ start: ArraySlice<UInt8>) -> InputError {
    do throws(ParseError) {
      _ = try PlistDocument.parse(Array(start))
      return InputError(reader.name, "not a plist in XML or binary form")
    } catch {
      return InputError(reader.name, at: error.place(in: Array(start)), error.reason)
    }
  }

  /// The UTF-16 encoding of `bytes`. Without a byte-order mark, the first character, `<`, reveals the byte order.
  private static func encoding(of bytes: [UInt8]) -> String.Encoding {
    if bytes.starts(with: [0x3C, 0]) { return .utf16LittleEndian }
    return bytes.starts(with: [0, 0x3C]) ? .utf16BigEndian : .utf16
  }

  /// Converts the text in `reader` to UTF-8, and drops the encoding from its XML declaration.
  private static func inUTF8(_ reader: LineReader) throws(InputError) -> LineReader {
    var reader = reader
    guard let bytes = try reader.rest(limit: longestUTF16) else {
      throw InputError(reader.name, "a UTF-16 plist larger than \(ByteSize(count: longestUTF16)); save it as UTF-8")
    }
    guard let text = String(bytes: bytes, encoding: encoding(of: bytes)) else {
      throw InputError(reader.name, "not a plist in XML or binary form")
    }
    let utf8 = Array(text.replacing(/^<\?xml[^>]*\?>/, with: "<?xml version=\"1.0\"?>", maxReplacements: 1).utf8)
    return LineReader(utf8, of: reader)
  }
}

/// A parser that turns an XML property list into Foundation's values.
private enum PlistDocument {
  /// Returns the value in `bytes`.
  static func parse(_ bytes: [UInt8]) throws(ParseError) -> Any {
    var format = PropertyListSerialization.PropertyListFormat.xml
    do {
      let value = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
      // Foundation also accepts the old NeXT format, in which almost any text is a valid string.
      if format == .xml { return value }
    } catch {
      throw flaw(error.parserMessage)
    }
    throw ParseError(reason: "not a plist in XML or binary form")
  }

  /// The error that Foundation describes in `message`, such as `Encountered unknown tag html on line 2`.
  private static func flaw(_ message: String) -> ParseError {
    if message.contains("unexpected EOF") {
      return ParseError(reason: "the plist ends unexpectedly", position: .end)
    }
    for separator in [" on line ", " at line "] {
      if let range = message.range(of: separator, options: .backwards) {
        let (line, rest) = (message[range.upperBound...].prefix(while: \.isNumber), message[range.upperBound...])
        guard let line = Int(line) else { continue }
        let reason = message[..<range.lowerBound] + rest.drop(while: \.isNumber)
        return ParseError(reason: "not a valid plist: \(reason)", position: .line(line))
      }
    }
    return ParseError(reason: "not a valid plist: \(message)")
  }
}

/// Finds the elements of the array in an XML property list. Foundation parses and validates their contents.
struct PlistArrayScanner: ElementScanner {
  private enum Phase: Hashable, Sendable {
    case beforeArray, inArray, afterArray
  }

  private var phase = Phase.beforeArray
  private var markup = XMLMarkup()
  private var isPlistOpen = false
  /// The number of open tags around the next byte, inside the array.
  private var depth = 0
  /// The XML declaration, which may name an encoding.
  private var declaration: [UInt8]?

  static let formatName = "plist"
  /// Errors in XML are fatal (XML 1.0, section 1.2).
  static let isStrict = true
  var isComplete: Bool { phase == .afterArray && !isPlistOpen }

  init() {}

  func value(of bytes: [UInt8]) throws(ParseError) -> Any {
    try PlistDocument.parse((declaration ?? []) + Array("<plist>".utf8) + bytes + Array("</plist>".utf8))
  }

  mutating func take(_ byte: UInt8) throws(ParseError) -> ElementStep {
    switch markup.take(byte) {
    case .text:
      if depth > 0 { return .inside }
      guard byte.isXMLSpace || isComplete else { throw Self.flaw("Unexpected character \(byte.shown)") }
      return .outside
    // Between elements, this byte may begin the next one.
    case .markup: return phase == .inArray ? .inside : .outside
    case .instruction(let text):
      if declaration == nil, text.starts(with: "<?xml".utf8) { declaration = text }
    case .other: break
    case .tag(let tag): return try take(tag)
    }
    return depth > 0 ? .inside : .outside
  }

  private mutating func take(_ tag: XMLMarkup.Tag) throws(ParseError) -> ElementStep {
    switch phase {
    case .beforeArray: try begin(tag)
    case .inArray where tag.kind == .end && depth == 0:
      guard tag.name == "array" else { throw Self.flaw("Unexpected end of \(tag.name)") }
      phase = .afterArray
    case .inArray:
      depth += tag.kind.depthChange
      if depth > ElementLimits.depth { throw ParseError(reason: "the plist is nested too deeply", position: .end) }
      return depth == 0 ? .last : .inside
    case .afterArray where tag.kind == .end: isPlistOpen = false
    case .afterArray where isPlistOpen: throw Self.flaw("Encountered another element after the array")
    case .afterArray: break
    }
    return .outside
  }

  private mutating func begin(_ tag: XMLMarkup.Tag) throws(ParseError) {
    switch (tag.name, tag.kind) {
    case ("plist", .start) where !isPlistOpen: isPlistOpen = true
    case ("array", .start): phase = .inArray
    case ("array", .empty): phase = .afterArray
    case ("dict", _), ("string", _), ("integer", _), ("real", _), ("true", _), ("false", _), ("date", _), ("data", _):
      throw ParseError(reason: "the top level of the plist is not an array")
    default: throw Self.flaw("Encountered unknown tag \(tag.name)")
    }
  }

  private static func flaw(_ reason: String) -> ParseError {
    ParseError(reason: "not a valid plist: \(reason)", position: .end)
  }
}

extension XMLMarkup.Tag.Kind {
  fileprivate var depthChange: Int {
    switch self {
    case .start: 1
    case .end: -1
    case .empty: 0
    }
  }
}

extension UInt8 {
  fileprivate var isXMLSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
  fileprivate var shown: String { self < 0x80 ? String(Unicode.Scalar(self)) : "beyond ASCII" }
}
