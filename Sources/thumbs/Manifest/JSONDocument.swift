import Foundation

/// A parser that turns JSON text into Foundation's values.
enum JSONDocument {
  /// Returns the value in `bytes`. An unpaired surrogate (`\ud800` alone), which encodes no character, becomes U+FFFD,
  /// as in browsers (Web IDL, `USVString`).
  static func parse(_ bytes: [UInt8]) throws(ParseError) -> Any {
    let bytes = mendingSurrogates(in: bytes)
    do {
      return try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    } catch {
      let mended = replacingNumbersThatAreNone(in: bytes)
      let value =
        mended == bytes ? nil : try? JSONSerialization.jsonObject(with: Data(mended), options: .fragmentsAllowed)
      if let value { return value }
      throw flaw(error.parserMessage)
    }
  }

  /// Returns the text with `null` in place of `NaN` and `Infinity`, which Python writes.
  private static func replacingNumbersThatAreNone(in bytes: [UInt8]) -> [UInt8] {
    var (mended, isInString): ([UInt8], Bool) = ([], false)
    var rest = bytes[...]
    while let byte = rest.first {
      let word = isInString ? nil : ["NaN", "-Infinity", "Infinity"].first { rest.starts(with: $0.utf8) }
      if let word {
        mended += "null".utf8
        rest = rest.dropFirst(word.utf8.count)
        continue
      }
      // The byte after a backslash ends no string.
      let count = isInString && byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { isInString.toggle() }
      mended += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    return mended
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
    case start, searching, beforeElement, inToken, inStructure, afterElement, end
  }

  private var phase = Phase.start
  private var finder: JSONRowFinder
  /// True if the array is in an object, whose other members are ignored.
  private var isWrapped = false
  /// The closing bytes of the arrays and objects around the next byte, outermost first.
  private var closers: [UInt8] = []
  private var isInString = false
  private var isEscaped = false

  static let formatName = "JSON"
  static let isStrict = false
  var isComplete: Bool { phase == .end }

  init() { self.init(rows: nil) }

  /// - Parameter rows: The keys that lead to the array in an object; nil for the first array that looks like rows.
  init(rows: [String]?) { finder = JSONRowFinder(path: rows) }

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
    case .searching: return try search(byte)
    case .end where isWrapped: return .outside
    case .start, .beforeElement, .afterElement, .end:
      return byte.isJSONSpace ? .outside : try takeOutside(byte)
    }
  }

  private mutating func takeOutside(_ byte: UInt8) throws(ParseError) -> ElementStep {
    switch (phase, byte) {
    case (.start, UInt8(ascii: "[")), (.afterElement, UInt8(ascii: ",")): phase = .beforeElement
    // A trailing comma is accepted, because many hand-written arrays have one.
    case (.beforeElement, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")): phase = .end
    case (.start, UInt8(ascii: "{")):
      (phase, isWrapped) = (.searching, true)
      return try search(byte)
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

  /// Searches the array in an object. The first bytes of its first element have passed when it is found.
  private mutating func search(_ byte: UInt8) throws(ParseError) -> ElementStep {
    switch try finder.take(byte) {
    case .none: return .outside
    case .candidate: return .inside
    case .found(.object):
      phase = .inStructure
      return try takeInside(byte)
    case .found(.string):
      (phase, isInString) = (.inStructure, true)
      return .inside
    case .found(.array):
      phase = .beforeElement
      return .outside
    }
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
  fileprivate var beginsJSONValue: Bool { "\"{[-0123456789tfnNI".utf8.contains(self) }
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

  /// Returns true if the text in `reader`, which begins with `{`, has a row on each line, and is not an object with an
  /// array of rows. Consumes nothing.
  static func isLikely(_ reader: inout LineReader, keys: ManifestKeys) throws(InputError) -> Bool {
    guard keys.rows == nil, let line = try firstLine(of: &reader), line.first == UInt8(ascii: "{") else { return false }
    guard let value = try? JSONDocument.parse(line) else { return !isUnfinished(line) }
    if keys.hasOwnURL(value) { return true }
    let hasRows = JSONRowFinder.findsRows(in: line)
    // An object with nothing but `urls` is a row with mirrors if others follow, and otherwise a list.
    let isURL = if case .url = keys.item(value).content { true } else { false }
    if isURL ? !hasRows : hasRows { return isURL }
    return try !isAlone(line, in: &reader)
  }

  /// Returns true if nothing follows `line` in a file. A pipe is not read beyond it.
  private static func isAlone(_ line: [UInt8], in reader: inout LineReader) throws(InputError) -> Bool {
    guard reader.isFile else { return false }
    let text = try reader.peek(atLeast: LineReader.chunkLength).drop { $0 <= 0x20 }
    return text.dropFirst(line.count).allSatisfy { $0 <= 0x20 }
  }

  /// Returns the first line, cut to a chunk. A pipe is not read beyond it, so that its first rows can start at once.
  private static func firstLine(of reader: inout LineReader) throws(InputError) -> [UInt8]? {
    var count = 1
    while true {
      let start = try reader.peek(atLeast: count)
      let text = start.drop { $0 <= 0x20 }
      if text.contains(0x0A) || start.count < count || start.count >= LineReader.chunkLength {
        return Array(text.prefix { $0 != 0x0A })
      }
      count = start.count + 1
    }
  }

  /// Returns true if an object or an array in the line continues on the next one.
  private static func isUnfinished(_ line: [UInt8]) -> Bool {
    var (depth, isInString, isEscaped) = (0, false, false)
    for byte in line {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isInString: isEscaped = true
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += isInString ? 0 : 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= isInString ? 0 : 1
      default: break
      }
    }
    return depth > 0 && !isInString
  }

  /// Returns the next row; nil after the last. A line that is not JSON is a bad row.
  mutating func next() throws(InputError) -> ManifestItem? {
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
