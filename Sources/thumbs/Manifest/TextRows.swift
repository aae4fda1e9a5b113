/// A list of addresses, one a line and taken literally: a comma, a quote or a space inside is part of it.
/// Empty lines and lines that begin with `#` are no items.
struct TextRows: RowSource {
  private var lines: LineReader

  /// The rows of `lines`.
  init(_ lines: LineReader) {
    self.lines = lines
  }

  /// The next address.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    while let line = try lines.next() {
      switch line.text {
      case .success(let text):
        let url = text.trimmingWhitespace()
        if !url.isEmpty, !url.hasPrefix("#") { return ManifestItem(line: line.number, content: .url(url)) }
      case .failure(let flaw):
        return ManifestItem(line: line.number, content: .bad(flaw.reason))
      }
    }
    return nil
  }
}

/// Why a line is no text.
struct LineFlaw: Error, Hashable, Sendable {
  /// The end of a sentence that begins with the line's place.
  var reason: String
}

extension LineReader.Line {
  /// The line as text.
  var text: Result<String, LineFlaw> {
    guard let bytes else { return .failure(LineFlaw(reason: "the line is too long")) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return .failure(LineFlaw(reason: "the line is not valid UTF-8"))
    }
    return text.utf8.contains(0) ? .failure(LineFlaw(reason: "the line holds a NUL byte")) : .success(text)
  }
}
