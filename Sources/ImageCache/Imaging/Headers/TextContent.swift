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
