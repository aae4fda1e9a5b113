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

  /// A part that may contain any characters but its end.
  private typealias Part = (start: StaticString, end: StaticString)

  /// These parts of a document, and of a document type.
  private static let comments: [Part] = [("<!--", "-->"), ("<?", "?>")]
  private static let commentsAndLiterals: [Part] = comments + [("\"", "\""), ("'", "'")]

  private var index = 0

  /// Returns the root element of the document that begins with `prefix`, which may be in UTF-16.
  static func root(of prefix: Span<UInt8>) -> Root {
    var prologue = MarkupPrologue()
    let start = prefix.extracting(first: limit)
    let text = WideText.utf8(start)
    let root = if let text { prologue.skip(text.span) } else { prologue.skip(start) }
    return root == .undecided && prefix.count >= limit ? .none : root
  }

  private mutating func skip(_ bytes: Span<UInt8>) -> Root {
    if bytes.has("\u{FEFF}", at: 0) { index = 3 }
    while true {
      skipSpace(bytes)
      guard index < bytes.count else { return index == 0 ? .none : .undecided }
      guard bytes[index] == UInt8(ascii: "<") else { return .none }
      if skip(Self.comments, in: bytes) { continue }
      guard bytes.has("<!", at: index) else { return element(bytes) }
      let start = index
      skipDocumentType(bytes)
      // The root element of a web page may be left out, and the first one is an image in the page then.
      if isPage(bytes.extracting(start..<index)) { return .element("html") }
    }
  }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }

  /// Skips one of `parts` if it begins here, to the end of the bytes if it has not ended. Returns false if none of them
  /// begins here.
  private mutating func skip(_ parts: [Part], in bytes: Span<UInt8>) -> Bool {
    for part in parts where bytes.has(part.start, at: index) {
      index += part.start.utf8CodeUnitCount
      while index < bytes.count, !bytes.has(part.end, at: index) { index += 1 }
      index = min(index + part.end.utf8CodeUnitCount, bytes.count)
      return true
    }
    return false
  }

  /// Skips a document type, whose brackets may contain declarations, up to the end of the bytes if it has not ended.
  private mutating func skipDocumentType(_ bytes: Span<UInt8>) {
    var depth = 0
    while index < bytes.count {
      if skip(Self.commentsAndLiterals, in: bytes) { continue }
      defer { index += 1 }
      switch bytes[index] {
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where depth <= 0: return
      default: break
      }
    }
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
