import Foundation

/// A parser that turns JSON text into Foundation's values.
enum JSONDocument {
  /// Returns the value in `bytes`. An unpaired surrogate (`\ud800` alone), which encodes no character, becomes U+FFFD,
  /// as in browsers (Web IDL, `USVString`).
  static func parse(_ bytes: [UInt8]) throws(ParseError) -> Any {
    do {
      return try JSONSerialization.jsonObject(with: Data(mendingSurrogates(in: bytes)), options: .fragmentsAllowed)
    } catch {
      throw flaw(error.parserMessage)
    }
  }

  private static func mendingSurrogates(in bytes: [UInt8]) -> [UInt8] {
    guard let first = bytes.firstIndex(of: UInt8(ascii: "\\")) else { return bytes }
    var mended = bytes
    var index = first
    while index + 1 < bytes.count {
      switch codeUnit(in: bytes, at: index) {
      case .some(0xD800...0xDBFF) where isLowSurrogate(codeUnit(in: bytes, at: index + 6)): index += 12
      case .some(0xD800...0xDFFF):
        mended.replaceSubrange(index + 2..<index + 6, with: "fffd".utf8)
        index += 6
      default: index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
      }
    }
    return mended
  }

  private static func isLowSurrogate(_ unit: UInt16?) -> Bool { unit.map { (0xDC00...0xDFFF).contains($0) } ?? false }

  /// The code unit of an escape such as `\u00e9` at `index`; nil if there is no escape.
  private static func codeUnit(in bytes: [UInt8], at index: Int) -> UInt16? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    let digits = bytes[index + 2..<index + 6]
    return digits.contains(UInt8(ascii: "+")) ? nil : UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// The error that Foundation describes in `message`, such as `Invalid value around character 13.`
  private static func flaw(_ message: String) -> ParseError {
    if message.contains("end of file") {
      return ParseError(reason: "the JSON ends unexpectedly", position: .end)
    }
    guard let range = message.range(of: " around character "),
      let offset = Int(message[range.upperBound...].prefix(while: \.isNumber))
    else { return ParseError(reason: "not valid JSON: \(message)") }
    return ParseError(reason: "not valid JSON: \(message[..<range.lowerBound])", position: .offset(offset))
  }
}

extension Error {
  /// The message of one of Foundation's parsers, without its period.
  var parserMessage: String {
    let error = self as NSError
    let message = error.userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    return message.hasSuffix(".") ? String(message.dropLast()) : message
  }
}

/// Finds the elements of a JSON array (RFC 8259).
struct JSONArrayScanner: ElementScanner {
  private enum Phase: Hashable, Sendable {
    case start, beforeElement, inToken, inStructure, afterElement, end
  }

  private var phase = Phase.start
  /// The closing bytes of the arrays and objects around the next byte, outermost first.
  private var closers: [UInt8] = []
  private var isInString = false
  private var isEscaped = false

  static let formatName = "JSON"
  static let isStrict = false
  var isComplete: Bool { phase == .end }

  init() {}

  func value(of bytes: [UInt8]) throws(ParseError) -> Any {
    do throws(ParseError) {
      return try JSONDocument.parse(bytes)
    } catch {
      // The element is complete, so the incomplete part is a literal inside it.
      throw error.position == .end ? ParseError(reason: Self.invalid.reason, position: .end) : error
    }
  }

  mutating func take(_ byte: UInt8) throws(ParseError) -> ElementStep {
    switch phase {
    case .inStructure: return try takeInside(byte)
    case .inToken: return try takeInToken(byte)
    case .start, .beforeElement, .afterElement, .end:
      return byte.isJSONSpace ? .outside : try takeOutside(byte)
    }
  }

  private mutating func takeOutside(_ byte: UInt8) throws(ParseError) -> ElementStep {
    switch (phase, byte) {
    case (.start, UInt8(ascii: "[")), (.afterElement, UInt8(ascii: ",")): phase = .beforeElement
    // A trailing comma is accepted, because many hand-written arrays have one.
    case (.beforeElement, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")): phase = .end
    case (.start, _) where byte.beginsJSONValue:
      throw ParseError(reason: "the top level of the JSON is not an array")
    case (.beforeElement, UInt8(ascii: "\"")), (.beforeElement, UInt8(ascii: "{")), (.beforeElement, UInt8(ascii: "[")):
      phase = .inStructure
      return try takeInside(byte)
    case (.beforeElement, _) where byte.beginsJSONValue:
      phase = .inToken
      return .inside
    default: throw Self.invalid
    }
    return .outside
  }

  /// Scans a number, `true`, `false` or `null`, which ends just before the next delimiter.
  private mutating func takeInToken(_ byte: UInt8) throws(ParseError) -> ElementStep {
    guard byte.isJSONSpace || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") else { return .inside }
    phase = .afterElement
    _ = try take(byte)
    return .endedBefore
  }

  private mutating func takeInside(_ byte: UInt8) throws(ParseError) -> ElementStep {
    if isInString { return try takeInString(byte) }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"): try open(UInt8(ascii: "}"))
    case UInt8(ascii: "["): try open(UInt8(ascii: "]"))
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard closers.popLast() == byte else { throw Self.invalid }
      return endIfWhole()
    default: break
    }
    return .inside
  }

  private mutating func takeInString(_ byte: UInt8) throws(ParseError) -> ElementStep {
    switch byte {
    case _ where isEscaped: isEscaped = false
    case UInt8(ascii: "\\"): isEscaped = true
    case UInt8(ascii: "\""):
      isInString = false
      return endIfWhole()
    // A raw control character usually means that a closing quote is missing earlier.
    case 0..<0x20:
      throw ParseError(reason: "not valid JSON: Control character inside a string", position: .offset(0))
    default: break
    }
    return .inside
  }

  private mutating func open(_ closer: UInt8) throws(ParseError) {
    closers.append(closer)
    if closers.count > ElementLimits.depth {
      throw ParseError(reason: "the JSON is nested too deeply", position: .offset(0))
    }
  }

  private mutating func endIfWhole() -> ElementStep {
    guard closers.isEmpty else { return .inside }
    phase = .afterElement
    return .last
  }

  private static let invalid = ParseError(reason: "not valid JSON: Invalid value", position: .offset(0))
}

extension UInt8 {
  fileprivate var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

  /// True for the first byte of a string, an object, an array, a number, `true`, `false` or `null`.
  fileprivate var beginsJSONValue: Bool { "\"{[-0123456789tfn".utf8.contains(self) }
}

/// The rows of a JSON Lines file: an object or a string with the URL on each line. Empty lines are skipped.
struct JSONLineRows: RowSource {
  private var lines: LineReader
  private let keys: ManifestKeys

  /// Reads `lines`, whose columns are called as in `keys`.
  init(_ lines: LineReader, keys: ManifestKeys) {
    self.lines = lines
    self.keys = keys
  }

  /// Returns true if the first line in `reader`, a file called `.json`, is a row by itself. Consumes nothing.
  static func isLikely(_ reader: inout LineReader, keys: ManifestKeys) throws(ManifestError) -> Bool {
    // A pipe is not read ahead, so that its first rows can start at once.
    guard reader.isFile else { return false }
    let start = try reader.peek(atLeast: LineReader.chunkLength).drop { $0 <= 0x20 }
    guard start.first == UInt8(ascii: "{") else { return false }
    let line = start.prefix { $0 != 0x0A }
    guard let value = try? JSONDocument.parse(Array(line)), case .url = keys.item(value).content else { return false }
    return true
  }

  /// Returns the next row; nil after the last. A line that is not JSON is a bad row.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    while let line = try lines.next(skipping: .spacesAndTabs) {
      guard let bytes = line.bytes else {
        return ManifestItem(line: line.number, content: .bad("the line is too long"))
      }
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      do throws(ParseError) {
        return keys.item(try JSONDocument.parse(bytes), line: line.number)
      } catch {
        return ManifestItem(line: line.number, content: .bad("not JSON: \(error.reason)"))
      }
    }
    return nil
  }
}
