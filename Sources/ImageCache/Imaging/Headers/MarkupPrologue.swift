/// The part of an XML document before its root element (XML 1.0, section 2.8): a declaration, comments, a document
/// type.
struct MarkupPrologue {
  /// The root element.
  enum Root: Equatable {
    /// The local name of the element, without its prefix.
    case element(String)
    /// More bytes are needed.
    case undecided
    /// The bytes are no XML document, or the prologue is too long.
    case none
  }

  /// The maximum length of the prologue in bytes. Some drawing programs write long comments and lists of entities.
  private static let limit = 64 << 10

  private var index = 0

  /// Returns the root element of the document that begins with `prefix`.
  static func root(of prefix: Span<UInt8>) -> Root {
    var prologue = MarkupPrologue()
    let root = prologue.skip(prefix.extracting(first: limit))
    return root == .undecided && prefix.count >= limit ? .none : root
  }

  private mutating func skip(_ bytes: Span<UInt8>) -> Root {
    if bytes.has("\u{FEFF}", at: 0) { index = 3 }
    while true {
      skipSpace(bytes)
      guard index < bytes.count else { return index == 0 ? .none : .undecided }
      guard bytes[index] == UInt8(ascii: "<") else { return .none }
      if bytes.has("<?", at: index) {
        guard skip(bytes, past: "?>") else { return .undecided }
      } else if bytes.has("<!--", at: index) {
        guard skip(bytes, past: "-->") else { return .undecided }
      } else if bytes.has("<!", at: index) {
        let start = index
        guard skipDocumentType(bytes) else { return .undecided }
        // The root element of a web page may be left out, and the first one is an image in the page then.
        if isPage(bytes.extracting(start..<index)) { return .element("html") }
      } else {
        return element(bytes)
      }
    }
  }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }

  /// Skips everything up to the first `end`. Returns false if it is not there yet.
  private mutating func skip(_ bytes: Span<UInt8>, past end: StaticString) -> Bool {
    while index < bytes.count {
      if bytes.has(end, at: index) {
        index += end.utf8CodeUnitCount
        return true
      }
      index += 1
    }
    return false
  }

  /// Skips a document type, whose brackets may contain declarations. Returns false if it has not ended yet.
  private mutating func skipDocumentType(_ bytes: Span<UInt8>) -> Bool {
    var depth = 0
    while index < bytes.count {
      defer { index += 1 }
      switch bytes[index] {
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where depth <= 0: return true
      default: break
      }
    }
    return false
  }

  private func isPage(_ type: Span<UInt8>) -> Bool {
    let words = type.withUnsafeBufferPointer { String(decoding: $0.prefix(64), as: UTF8.self) }.lowercased()
      .split { $0.isWhitespace || $0 == ">" }
    return words.count > 1 && words[0] == "<!doctype" && words[1] == "html"
  }

  private func element(_ bytes: Span<UInt8>) -> Root {
    var name: [UInt8] = []
    for offset in (index + 1)..<max(index + 1, bytes.count) {
      let byte = bytes[offset]
      if [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ">"), UInt8(ascii: "/")].contains(byte) {
        let text = String(decoding: name, as: UTF8.self)
        return .element(String(text.split(separator: ":").last ?? ""))
      }
      name.append(byte)
      if name.count > 64 { return .none }
    }
    return .undecided
  }
}
