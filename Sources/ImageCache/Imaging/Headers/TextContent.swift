/// Bytes without the signature of a picture: usually a web page or an error message where a picture was expected.
enum TextContent {
  /// How many bytes are looked at, at most; a picture may begin anywhere in them.
  static let window = 2048

  /// Throws what the bytes are if more of them could not change that: `unsupportedFormat` for an SVG, `notAnImage` for a
  /// page with a title, and for anything that fills the window.
  static func refuse(_ prefix: Span<UInt8>) throws(ImageError) {
    // Only the bytes before the first control character count, so that later bytes never change the verdict.
    let length = textLength(prefix)
    let lowercased = decoded(prefix.extracting(0..<length)).lowercased()
    // An `<svg` behind the start of a page is part of that page.
    if isMarkup(lowercased), let start = lowercased.range(ofFirst: "<svg"),
      !["<html", "</title>"].contains(where: lowercased[..<start].contains)
    {
      throw ImageError(.unsupportedFormat, "SVG is not supported.")
    }
    if lowercased.contains("</title>") { throw description(of: prefix.extracting(0..<length)) }
    if prefix.count >= window { throw description(of: prefix) }
  }

  /// What complete bytes look like that are not a picture.
  static func description(of bytes: Span<UInt8>) -> ImageError {
    guard !bytes.isEmpty else { return ImageError(.notAnImage, "Not a picture: there are no bytes.") }
    guard isText(bytes) else {
      return FileSignature.couldBecomeKnown(bytes)
        ? ImageError(.truncated, "The file ends before its format can be told.") : unknown
    }
    let text = decoded(bytes)
    let lowercased = text.lowercased()
    if isPage(lowercased) {
      let title = title(in: text).map { " titled \"\($0)\"" } ?? ""
      return ImageError(.notAnImage, "Not a picture: a web page\(title).")
    }
    if lowercased.hasPrefix("{") || lowercased.hasPrefix("[") {
      return ImageError(.notAnImage, "Not a picture: it looks like JSON, beginning \"\(excerpt(text))\".")
    }
    let kind = isMarkup(lowercased) ? "XML" : "text"
    return ImageError(.notAnImage, "Not a picture: it looks like \(kind), beginning \"\(excerpt(text))\".")
  }

  private static var unknown: ImageError {
    ImageError(.notAnImage, "Not a picture: the bytes have no known signature.")
  }

  /// The number of bytes before the first control character that is not white space or ESC, within the window.
  private static func textLength(_ bytes: Span<UInt8>) -> Int {
    let limit = min(bytes.count, window)
    return (0..<limit).first { index in
      let byte = bytes[index]
      return byte == 0x7F || byte < 0x20 && !(0x09...0x0D).contains(byte) && byte != 0x1B
    } ?? limit
  }

  private static func isText(_ bytes: Span<UInt8>) -> Bool { textLength(bytes) == min(bytes.count, window) }

  /// The window as text, without a byte order mark and leading space.
  private static func decoded(_ bytes: Span<UInt8>) -> Substring {
    let window = bytes.extracting(0..<min(bytes.count, window))
    let text = window.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    return text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
  }

  private static func isMarkup(_ lowercased: String) -> Bool { lowercased.hasPrefix("<") }

  private static func isPage(_ lowercased: String) -> Bool {
    isMarkup(lowercased)
      && ["<html", "<!doctype html", "<head", "<body", "<title", "<script"].contains { lowercased.contains($0) }
  }

  private static func title(in text: Substring) -> String? {
    let lowercased = text.lowercased()
    // Only where lowering keeps every character's place do the two texts have the same offsets.
    guard lowercased.count == text.count, let tag = lowercased.range(ofFirst: "<title"),
      let open = lowercased[tag...].firstIndex(of: ">")
    else { return nil }
    let start = lowercased.distance(from: lowercased.startIndex, to: open) + 1
    let title = excerpt(text.dropFirst(start).prefix { $0 != "<" })
    return title.isEmpty ? nil : title
  }

  /// At most 100 characters, on one line.
  private static func excerpt(_ text: Substring) -> String {
    let line = text.prefix(400).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return line.count > 100 ? line.prefix(99) + "…" : line
  }
}

extension String {
  /// Where `text` first begins.
  fileprivate func range(ofFirst text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}
