/// Separates markup from text in XML, byte by byte: tags, comments, processing instructions, declarations and CDATA
/// sections (XML 1.0, section 2.4). Entities are not expanded.
struct XMLMarkup: Hashable, Sendable {
  /// The name and kind of a tag.
  struct Tag: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      case start, end, empty
    }

    var name: String
    var kind: Kind
  }

  /// The role of a byte.
  enum Piece: Hashable, Sendable {
    /// A byte of text or of a CDATA section.
    case text
    /// A byte of markup other than the last.
    case markup
    /// The last byte of a tag.
    case tag(Tag)
    /// The last byte of a processing instruction, with the text of the instruction.
    case instruction([UInt8])
    /// The last byte of other markup.
    case other
  }

  private enum State: Hashable, Sendable {
    case text, begun, tag, comment, characterData, instruction, declaration
  }

  /// The number of bytes kept from the beginning of markup: enough for a tag's name or the XML declaration.
  private static let longestStart = 256

  private var state = State.text
  /// The first bytes of the current markup, at most ``longestStart``.
  private var start: [UInt8] = []
  /// The two preceding bytes.
  private var last: UInt8 = 0
  private var lastButOne: UInt8 = 0
  private var quote: UInt8?
  private var brackets = 0

  /// Scans the next byte and returns its role.
  mutating func take(_ byte: UInt8) -> Piece {
    defer { (lastButOne, last) = (last, byte) }
    if state == .text {
      guard byte == UInt8(ascii: "<") else { return .text }
      (state, start, quote, brackets) = (.begun, [byte], nil, 0)
      return .markup
    }
    if start.count < Self.longestStart { start.append(byte) }
    if state == .begun { state = beginning() }
    guard isEnd(byte) else { return state == .characterData ? .text : .markup }
    defer { state = .text }
    switch state {
    case .tag: return .tag(tag)
    case .instruction: return .instruction(start)
    case .characterData: return .text
    default: return .other
    }
  }

  /// The state for the markup, judging by its first bytes.
  private func beginning() -> State {
    switch start[1] {
    case UInt8(ascii: "?"): return .instruction
    case UInt8(ascii: "!"):
      if start == Array("<!--".utf8) { return .comment }
      if start == Array("<![CDATA[".utf8) { return .characterData }
      return "<!--".utf8.starts(with: start) || "<![CDATA[".utf8.starts(with: start) ? .begun : .declaration
    default: return .tag
    }
  }

  private mutating func isEnd(_ byte: UInt8) -> Bool {
    let isAngle = byte == UInt8(ascii: ">")
    switch state {
    case .text, .begun: return false
    // The shortest comment is `<!---->`.
    case .comment: return isAngle && follows("-") && start.count > 6
    case .characterData: return isAngle && follows("]")
    case .instruction: return isAngle && last == UInt8(ascii: "?")
    case .tag, .declaration: return isUnquotedEnd(byte)
    }
  }

  /// True if the two preceding bytes are both `mark`.
  private func follows(_ mark: Unicode.Scalar) -> Bool { last == UInt8(ascii: mark) && lastButOne == last }

  /// True if `byte` ends the tag or declaration. A `>` inside quotes or inside a declaration's brackets does not.
  private mutating func isUnquotedEnd(_ byte: UInt8) -> Bool {
    if let open = quote {
      if byte == open { quote = nil }
      return false
    }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
    case UInt8(ascii: "[") where state == .declaration: brackets += 1
    case UInt8(ascii: "]") where state == .declaration: brackets -= 1
    case UInt8(ascii: ">"): return brackets <= 0
    default: break
    }
    return false
  }

  /// The tag that ends with the next byte.
  private var tag: Tag {
    let isEnd = start.dropFirst().first == UInt8(ascii: "/")
    let name = start.dropFirst(isEnd ? 2 : 1).prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    let kind: Tag.Kind = isEnd ? .end : last == UInt8(ascii: "/") ? .empty : .start
    return Tag(name: String(decoding: name, as: UTF8.self), kind: kind)
  }
}
