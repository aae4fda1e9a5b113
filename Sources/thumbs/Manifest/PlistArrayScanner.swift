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

  func value(of bytes: [UInt8]) throws(DocumentFlaw) -> Any {
    try PlistDocument.parse((declaration ?? []) + Array("<plist>".utf8) + bytes + Array("</plist>".utf8))
  }

  mutating func take(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep {
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

  private mutating func take(_ tag: XMLMarkup.Tag) throws(DocumentFlaw) -> ElementStep {
    switch phase {
    case .beforeArray: try begin(tag)
    case .inArray where tag.kind == .end && depth == 0:
      guard tag.name == "array" else { throw Self.flaw("Unexpected end of \(tag.name)") }
      phase = .afterArray
    case .inArray:
      depth += tag.kind.depthChange
      if depth > ElementLimits.depth { throw DocumentFlaw(reason: "the plist is nested too deeply", position: .end) }
      return depth == 0 ? .last : .inside
    case .afterArray where tag.kind == .end: isPlistOpen = false
    case .afterArray where isPlistOpen: throw Self.flaw("Encountered another element after the array")
    case .afterArray: break
    }
    return .outside
  }

  private mutating func begin(_ tag: XMLMarkup.Tag) throws(DocumentFlaw) {
    switch (tag.name, tag.kind) {
    case ("plist", .start) where !isPlistOpen: isPlistOpen = true
    case ("array", .start): phase = .inArray
    case ("array", .empty): phase = .afterArray
    case ("dict", _), ("string", _), ("integer", _), ("real", _), ("true", _), ("false", _), ("date", _), ("data", _):
      throw DocumentFlaw(reason: "the top level of the plist is not an array")
    default: throw Self.flaw("Encountered unknown tag \(tag.name)")
    }
  }

  private static func flaw(_ reason: String) -> DocumentFlaw {
    DocumentFlaw(reason: "not a valid plist: \(reason)", position: .end)
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
