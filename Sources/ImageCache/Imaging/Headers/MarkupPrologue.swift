/// The part of an XML document before its root element (XML 1.0, section 2.8): a declaration, comments, a document
/// type.
package struct MarkupPrologue {
  /// The root element.
  package enum Root: Equatable {
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
  package static func root(of prefix: Span<UInt8>) -> Root {
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

/// Describes bytes without an image signature: usually a web page or an error message sent instead of an image.
///
/// Only the title of a page is quoted. Any other text may be a secret, such as the response of a metadata service, and
/// whoever reads a report need not be allowed to read it.
enum TextContent {
  /// The maximum number of bytes examined. An embedded file may begin anywhere in them.
  static let window = 2048

  /// Throws `notAnImage` if more bytes could not make this an image: for a page with a title and for anything that
  /// fills the window.
  static func refuse(_ prefix: Span<UInt8>) throws(ImageError) {
    // Only the text before the first control character counts, so that later bytes never change the result.
    let length = textLength(prefix)
    let lowercased = decoded(prefix.extracting(0..<length)).lowercased()
    if lowercased.has("</title>") { throw description(of: prefix.extracting(0..<length)) }
    if prefix.count >= window { throw description(of: prefix) }
  }

  /// Returns the error for a complete file without an image signature.
  static func description(of bytes: Span<UInt8>) -> ImageError {
    guard !bytes.isEmpty else { return ImageError(.notAnImage, "Not an image: the file is empty.") }
    guard isText(bytes) else {
      return FileRecognition.couldBecomeKnown(bytes)
        ? ImageError(.truncated, "The file is too short to recognize its format.") : unknown
    }
    let text = decoded(bytes)
    let lowercased = text.lowercased()
    if isPage(lowercased) {
      let title = title(in: text).map { " titled \"\($0)\"" } ?? ""
      return ImageError(.notAnImage, "Not an image: a web page\(title).")
    }
    if lowercased.hasPrefix("{") || lowercased.hasPrefix("[") {
      return ImageError(.notAnImage, "Not an image: JSON.")
    }
    return ImageError(.notAnImage, "Not an image: \(isMarkup(lowercased) ? "XML" : "text").")
  }

  private static var unknown: ImageError {
    ImageError(.notAnImage, "Not an image: no known file signature.")
  }

  /// Returns the number of bytes in the window before the first control character other than white space and ESC.
  private static func textLength(_ bytes: Span<UInt8>) -> Int {
    let limit = min(bytes.count, window)
    return (0..<limit).first { index in
      let byte = bytes[index]
      return byte == 0x7F || byte < 0x20 && !(0x09...0x0D).contains(byte) && byte != 0x1B
    } ?? limit
  }

  private static func isText(_ bytes: Span<UInt8>) -> Bool { textLength(bytes) == min(bytes.count, window) }

  /// Returns the window as text, without a byte order mark and leading white space.
  private static func decoded(_ bytes: Span<UInt8>) -> Substring {
    let window = bytes.extracting(0..<min(bytes.count, window))
    let text = window.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    return text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
  }

  private static func isMarkup(_ lowercased: String) -> Bool { lowercased.utf8.starts(with: "<".utf8) }

  private static func isPage(_ lowercased: String) -> Bool {
    isMarkup(lowercased)
      && ["<html", "<!doctype html", "<head", "<body", "<title", "<script"].contains { lowercased.has($0) }
  }

  private static func title(in text: Substring) -> String? {
    let lowercased = text.lowercased()
    // Offsets carry over only if lowercasing kept the number of characters.
    guard lowercased.count == text.count, let tag = lowercased.range(ofFirst: "<title"),
      let open = lowercased[tag...].firstIndex(of: ">")
    else { return nil }
    let start = lowercased.distance(from: lowercased.startIndex, to: open) + 1
    let title = excerpt(text.dropFirst(start).prefix { $0 != "<" })
    return title.isEmpty ? nil : title
  }

  /// Returns the beginning of the text on one line, at most 60 Unicode scalars: a character has no greatest length.
  private static func excerpt(_ text: Substring) -> String {
    let line = text.unicodeScalars.prefix(240).split(whereSeparator: \.properties.isWhitespace)
      .map { String($0) }.joined(separator: " ").unicodeScalars
    return line.count > 60 ? String(line.prefix(59)) + "…" : String(line)
  }
}

extension String {
  /// Returns true if the code units of `text` occur in this string. Characters would not do: a combining mark that
  /// arrives after a `>` joins it into another character, so that more bytes could change the result.
  fileprivate func has(_ text: String) -> Bool { utf8.contains(text.utf8) }

  /// Returns the index of the first occurrence of `text`.
  fileprivate func range(ofFirst text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}

/// Text in UTF-16, which XML documents may have (XML 1.0, section 4.3.3).
private enum WideText {
  /// Returns the text that begins with `prefix` in UTF-8, without its byte order mark; nil for other bytes. A document
  /// without the mark is recognized by `<?` (section F.1).
  static func utf8(_ prefix: Span<UInt8>) -> [UInt8]? {
    switch (prefix.uint16(at: 0), prefix.uint16(at: 2)) {
    case (0xFEFF, _): converted(prefix.extracting(2...), .big)
    case (0xFFFE, _): converted(prefix.extracting(2...), .little)
    case (0x003C, 0x003F): converted(prefix, .big)
    case (0x3C00, 0x3F00): converted(prefix, .little)
    default: nil
    }
  }

  private static func converted(_ bytes: Span<UInt8>, _ order: ByteOrder) -> [UInt8] {
    var units: [UInt16] = []
    for offset in stride(from: 0, to: bytes.count - 1, by: 2) {
      units.append(UInt16(bytes.uint16(at: offset, order) ?? 0))
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }
}
