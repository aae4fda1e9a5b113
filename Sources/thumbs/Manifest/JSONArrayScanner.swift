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

  func value(of bytes: [UInt8]) throws(DocumentFlaw) -> Any {
    do throws(DocumentFlaw) {
      return try JSONDocument.parse(bytes)
    } catch {
      // The element is complete, so the incomplete part is a literal inside it.
      throw error.position == .end ? DocumentFlaw(reason: Self.invalid.reason, position: .end) : error
    }
  }

  mutating func take(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep {
    switch phase {
    case .inStructure: return try takeInside(byte)
    case .inToken: return try takeInToken(byte)
    case .start, .beforeElement, .afterElement, .end:
      return byte.isJSONSpace ? .outside : try takeOutside(byte)
    }
  }

  private mutating func takeOutside(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep {
    switch (phase, byte) {
    case (.start, UInt8(ascii: "[")), (.afterElement, UInt8(ascii: ",")): phase = .beforeElement
    // A trailing comma is accepted, because many hand-written arrays have one.
    case (.beforeElement, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")): phase = .end
    case (.start, _) where byte.beginsJSONValue:
      throw DocumentFlaw(reason: "the top level of the JSON is not an array")
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
  private mutating func takeInToken(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep {
    guard byte.isJSONSpace || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") else { return .inside }
    phase = .afterElement
    _ = try take(byte)
    return .endedBefore
  }

  private mutating func takeInside(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep {
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

  private mutating func takeInString(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep {
    switch byte {
    case _ where isEscaped: isEscaped = false
    case UInt8(ascii: "\\"): isEscaped = true
    case UInt8(ascii: "\""):
      isInString = false
      return endIfWhole()
    // A raw control character usually means that a closing quote is missing earlier.
    case 0..<0x20:
      throw DocumentFlaw(reason: "not valid JSON: Control character inside a string", position: .offset(0))
    default: break
    }
    return .inside
  }

  private mutating func open(_ closer: UInt8) throws(DocumentFlaw) {
    closers.append(closer)
    if closers.count > ElementLimits.depth {
      throw DocumentFlaw(reason: "the JSON is nested too deeply", position: .offset(0))
    }
  }

  private mutating func endIfWhole() -> ElementStep {
    guard closers.isEmpty else { return .inside }
    phase = .afterElement
    return .last
  }

  private static let invalid = DocumentFlaw(reason: "not valid JSON: Invalid value", position: .offset(0))
}

extension UInt8 {
  fileprivate var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

  /// True for the first byte of a string, an object, an array, a number, `true`, `false` or `null`.
  fileprivate var beginsJSONValue: Bool { "\"{[-0123456789tfn".utf8.contains(self) }
}
