/// Divides a web page or an XML document into tags and text, as a browser does (HTML standard, section 13.2.5). Only
/// what is needed to find images: comments, declarations and character data are skipped.
struct MarkupTokenizer {
  /// The language of a document.
  enum Language: Hashable, Sendable {
    /// Names are in lower case, and the contents of elements such as `script` are text.
    case html
    /// Names keep their case, and CDATA sections are text.
    case xml
  }

  /// A tag with its attributes.
  struct Tag: Hashable, Sendable {
    var name: String
    var isEnd = false
    /// True for `<br/>`, which ends an element in XML only.
    var isEmpty = false
    fileprivate(set) var attributes: [String: String] = [:]

    /// The value of an attribute; nil if the tag does not have it.
    subscript(_ name: String) -> String? { attributes[name] }
  }

  /// A part of a document.
  enum Token: Hashable, Sendable {
    case tag(Tag)
    /// Text with its character references decoded.
    case text(String)
  }

  /// Elements whose contents are text up to their end tag (section 13.2.5.2 to 13.2.5.4), with true for those in which
  /// character references count. Scripts do not run here, so that `noscript` is not among them.
  private static let textElements = [
    "title": true, "textarea": true, "style": false, "xmp": false, "iframe": false, "noembed": false, "noframes": false,
    "script": false,
  ]
  /// The maximum number of attributes of a tag. Further ones are ignored.
  private static let maxAttributes = 200

  private let bytes: [UInt8]
  private let language: Language
  private var index = 0
  /// The element whose contents are text, if the last tag began one.
  private var textElement: String?

  /// Creates a tokenizer of a document in UTF-8.
  init(_ bytes: [UInt8], _ language: Language) {
    // As in browsers, a zero in markup is U+FFFD.
    self.bytes = bytes.contains(0) ? bytes.flatMap { $0 == 0 ? Array("\u{FFFD}".utf8) : [$0] } : bytes
    self.language = language
  }

  /// Returns the next token; nil at the end.
  mutating func next() -> Token? {
    while index < bytes.count {
      if let name = textElement {
        textElement = nil
        if let text = content(of: name) { return text }
        continue
      }
      if bytes[index] != UInt8(ascii: "<") { return text(upTo: nextMarkup(from: index)) }
      if let token = markup() { return token }
    }
    return nil
  }

  // MARK: Text

  private mutating func text(upTo end: Int) -> Token {
    defer { index = end }
    return .text(CharacterReferences.decoded(bytes[index..<end], isAttribute: false))
  }

  /// Returns the position of the next `<`, which may begin markup; the end of the document without one.
  private func nextMarkup(from start: Int) -> Int {
    bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
  }

  /// Returns the text of an element up to its end tag; nil if it is empty.
  private mutating func content(of name: String) -> Token? {
    let end = name == "script" ? scriptEnd() : endTag(of: name, from: index)
    guard end > index else { return nil }
    guard Self.textElements[name] == true else {
      defer { index = end }
      return .text(String(decoding: bytes[index..<end], as: UTF8.self))
    }
    return text(upTo: end)
  }

  /// Returns the position of `</name` followed by a space, `/` or `>`; the end of the document without one.
  private func endTag(of name: String, from start: Int) -> Int {
    var position = start
    while let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      if isTag("/" + name, at: open + 1) { return open }
      position = open + 1
    }
    return bytes.count
  }

  private func isTag(_ name: String, at start: Int) -> Bool {
    let end = start + name.utf8.count
    guard end < bytes.count, zip(bytes[start..<end], name.utf8).allSatisfy({ $0.asciiLowercased == $1 }) else {
      return false
    }
    return bytes[end].isMarkupSpace || bytes[end] == UInt8(ascii: "/") || bytes[end] == UInt8(ascii: ">")
  }

  /// Returns the end of a script: within `<!-- <script>`, its end tag ends an inner script (section 13.2.5.16 to .28).
  private func scriptEnd() -> Int {
    var (position, isComment, isInner) = (index, false, false)
    while position < bytes.count {
      if !isComment, has("<!--", at: position) {
        // Its last two characters may also be those of an end, as in `<!-->`.
        isComment = true
        position += 1
      } else if isComment, has("-->", at: position) {
        (isComment, isInner) = (false, false)
      } else if isTag("/script", at: position + 1), bytes[position] == UInt8(ascii: "<") {
        if !isInner { return position }
        isInner = false
      } else if isComment, bytes[position] == UInt8(ascii: "<"), isTag("script", at: position + 1) {
        isInner = true
      }
      position += 1
    }
    return bytes.count
  }

  // MARK: Markup

  /// Reads what begins with `<`. Returns nil for what is skipped.
  private mutating func markup() -> Token? {
    let next = index + 1 < bytes.count ? bytes[index + 1] : 0
    if next == UInt8(ascii: "!") { return declaration() }
    if next == UInt8(ascii: "?") {
      skip(past: language == .xml ? "?>" : ">")
      return nil
    }
    if next == UInt8(ascii: "/") {
      let first = index + 2 < bytes.count ? bytes[index + 2] : 0
      guard first.isMarkupLetter || language == .xml else {
        skip(past: ">")
        return nil
      }
      return tag(from: index + 2, isEnd: true)
    }
    if next.isMarkupLetter || language == .xml && next >= 0x80 { return tag(from: index + 1, isEnd: false) }
    return text(upTo: nextMarkup(from: index + 1))
  }

  private mutating func declaration() -> Token? {
    if has("<!--", at: index) {
      skipComment()
    } else if language == .xml, has("<![CDATA[", at: index) {
      let start = index + 9
      skip(past: "]]>")
      return .text(String(decoding: bytes[start..<max(start, min(index - 3, bytes.count))], as: UTF8.self))
    } else if language == .xml, has("<!DOCTYPE", at: index) {
      skipDocumentType()
    } else {
      skip(past: ">")
    }
    return nil
  }

  /// Skips a comment, which `-->` and `--!>` end, and also the `>` of `<!-->` and `<!--->`.
  private mutating func skipComment() {
    index += 4
    if has(">", at: index) || has("->", at: index) { return skip(past: ">") }
    while index < bytes.count, !has("-->", at: index), !has("--!>", at: index) { index += 1 }
    skip(past: ">")
  }

  /// Skips a document type with its declarations in brackets. None of its entities is ever expanded.
  private mutating func skipDocumentType() {
    var depth = 0
    while index < bytes.count {
      defer { index += 1 }
      switch bytes[index] {
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where depth <= 0: return
      default: break
      }
    }
  }

  private mutating func skip(past end: StaticString) {
    while index < bytes.count, !has(end, at: index) { index += 1 }
    index = min(bytes.count, index + end.utf8CodeUnitCount)
  }

  private func has(_ text: StaticString, at start: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    guard start + count <= bytes.count else { return false }
    for offset in 0..<count where bytes[start + offset] != text.utf8Start[offset] { return false }
    return true
  }

  // MARK: Tags

  /// Reads a tag whose name begins at `start`. A tag that the document does not end is dropped.
  private mutating func tag(from start: Int, isEnd: Bool) -> Token? {
    index = start
    var tag = Tag(
      name: name(from: start) { $0.isMarkupSpace || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ">") }, isEnd: isEnd)
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: ">") {
        index += 1
        if language == .html, !isEnd, Self.textElements[tag.name] != nil { textElement = tag.name }
        return .tag(tag)
      }
      tag.isEmpty = byte == UInt8(ascii: "/")
      if byte.isMarkupSpace || tag.isEmpty { index += 1 } else { readAttribute(of: &tag) }
    }
    return nil
  }

  /// Reads a name to its end, which is looked for from `start` on.
  private mutating func name(from start: Int, until isEnd: (UInt8) -> Bool) -> String {
    let begin = index
    index = start
    while index < bytes.count, !isEnd(bytes[index]) { index += 1 }
    let name = bytes[begin..<index]
    return String(decoding: language == .html ? name.map(\.asciiLowercased)[...] : name, as: UTF8.self)
  }

  /// Reads an attribute. Of several with the same name, the first counts.
  private mutating func readAttribute(of tag: inout Tag) {
    // An equals sign at the beginning belongs to the name.
    let start = bytes[index] == UInt8(ascii: "=") ? index + 1 : index
    let name = name(from: start) { byte in
      byte.isMarkupSpace || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "=")
    }
    skipSpace()
    let value = index < bytes.count && bytes[index] == UInt8(ascii: "=") ? readValue() : ""
    if tag.attributes[name] == nil, tag.attributes.count < Self.maxAttributes {
      tag.attributes[name] = value
    }
  }

  private mutating func readValue() -> String {
    index += 1
    skipSpace()
    guard index < bytes.count, bytes[index] != UInt8(ascii: ">") else { return "" }
    let quote = bytes[index]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let start = index
      while index < bytes.count, !bytes[index].isMarkupSpace, bytes[index] != UInt8(ascii: ">") { index += 1 }
      return CharacterReferences.decoded(bytes[start..<index], isAttribute: true)
    }
    let start = index + 1
    let end = bytes[start...].firstIndex(of: quote) ?? bytes.count
    index = min(end + 1, bytes.count)
    return CharacterReferences.decoded(bytes[start..<end], isAttribute: true)
  }

  private mutating func skipSpace() {
    while index < bytes.count, bytes[index].isMarkupSpace { index += 1 }
  }
}

extension UInt8 {
  /// True for white space of the HTML standard.
  var isMarkupSpace: Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(self) }
  fileprivate var isMarkupLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
  fileprivate var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

/// Character references, such as `&amp;` and `&#38;` (HTML standard, section 13.2.5.72 to .80). Of the names, those are
/// known that URLs and titles have: of markup, of punctuation, and of Latin-1.
enum CharacterReferences {
  /// Returns the text with its references decoded. In an attribute, a name without a semicolon is text if a letter, a
  /// digit or `=` follows: `?a=1&copy=2` is a query.
  static func decoded(_ bytes: ArraySlice<UInt8>, isAttribute: Bool) -> String {
    guard bytes.contains(UInt8(ascii: "&")) else { return String(decoding: bytes, as: UTF8.self) }
    var (output, rest) = ([UInt8](), bytes)
    output.reserveCapacity(bytes.count)
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "&"), let text = reference(&rest, isAttribute: isAttribute) {
        output += text.utf8
      } else {
        output.append(byte)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Reads what follows an ampersand; nil, without reading anything, if it is no reference.
  private static func reference(_ rest: inout ArraySlice<UInt8>, isAttribute: Bool) -> String? {
    if rest.first == UInt8(ascii: "#") { return number(&rest) }
    let word = rest.prefix(10).prefix { $0.isMarkupLetter || (0x30...0x39).contains($0) }
    let name = String(decoding: word, as: UTF8.self)
    if rest.dropFirst(word.count).first == UInt8(ascii: ";"), let text = named[name] ?? latin[name] {
      rest = rest.dropFirst(word.count + 1)
      return text
    }
    // Old names also count without a semicolon. The longest one wins.
    for length in stride(from: name.utf8.count, to: 1, by: -1) {
      guard let text = latin[String(name.prefix(length))] else { continue }
      let next = rest.dropFirst(length).first ?? 0
      if isAttribute, next == UInt8(ascii: "=") || next.isMarkupLetter || (0x30...0x39).contains(next) { return nil }
      rest = rest.dropFirst(length)
      return text
    }
    return nil
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) -> String? {
    let isHexadecimal = rest.dropFirst().first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
    let digits = rest.dropFirst(isHexadecimal ? 2 : 1).prefix { byte in
      (0x30...0x39).contains(byte) || isHexadecimal && (0x61...0x66).contains(byte | 0x20)
    }
    guard !digits.isEmpty else { return nil }
    let value = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10) ?? .max
    rest = rest[digits.endIndex...]
    if rest.first == UInt8(ascii: ";") { rest = rest.dropFirst() }
    let scalar = value == 0 ? nil : Unicode.Scalar(value)
    return String(Character(windows[value].flatMap { Unicode.Scalar($0) } ?? scalar ?? "\u{FFFD}"))
  }

  /// Numbers that stand for characters of Windows-1252 (section 13.2.5.80), the most common ones.
  private static let windows: [UInt32: UInt32] = [
    0x80: 0x20AC, 0x85: 0x2026, 0x91: 0x2018, 0x92: 0x2019, 0x93: 0x201C, 0x94: 0x201D, 0x95: 0x2022, 0x96: 0x2013,
    0x97: 0x2014, 0x99: 0x2122,
  ]

  private static let named = [
    "apos": "'", "hellip": "…", "mdash": "—", "ndash": "–", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
    "bull": "•", "trade": "™", "euro": "€", "sol": "/", "period": ".", "comma": ",", "colon": ":", "num": "#",
    "equals": "=", "quest": "?", "lowbar": "_", "commat": "@", "percnt": "%", "plus": "+", "semi": ";", "Tab": "\t",
    "NewLine": "\n",
  ]

  /// The names of Latin-1 from 160 on, and those of markup.
  private static let latin: [String: String] = {
    let names = """
      nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 \
      sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc \
      Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve \
      Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute \
      acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde \
      ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
      """
    var table = ["amp": "&", "AMP": "&", "lt": "<", "LT": "<", "gt": ">", "GT": ">", "quot": "\"", "QUOT": "\""]
    for (offset, name) in names.split(separator: " ").enumerated() {
      table[String(name)] = Unicode.Scalar(160 + UInt32(offset)).map { String(Character($0)) }
    }
    return table
  }()
}
