/// The rows of a text file with one URL per line, taken literally: a comma, quote or space inside a URL is part of it.
/// Empty lines and lines that begin with `#` are skipped.
struct TextRows: RowSource {
  private var lines: LineReader
  private var decoder = TextDecoder()
  private var hasComments = false

  /// Reads the rows from `lines`.
  init(_ lines: LineReader) {
    self.lines = lines
  }

  /// Returns the next row; nil after the last. A line that is not text is a bad row.
  mutating func next() throws(InputError) -> ManifestItem? {
    while let line = try lines.next(skipping: .spacesAndTabs) {
      switch line.text(by: &decoder) {
      case .success(let text):
        let url = text.trimmingWhitespace()
        if !url.isEmpty, !url.hasPrefix("#") { return ManifestItem(line: line.number, content: .url(url)) }
        hasComments = hasComments || !url.isEmpty
      case .failure(let flaw):
        return ManifestItem(line: line.number, content: .bad(flaw.reason))
      }
    }
    return nil
  }

  var found: String { hasComments ? "it has only comments" : "it is empty" }
}

extension LineReader.Line {
  /// Returns the line as text without NUL bytes, or the error in it.
  func text(by decoder: inout TextDecoder) -> Result<String, ParseError> {
    guard let bytes else { return .failure(ParseError(reason: "the line is too long")) }
    guard let text = decoder.text(bytes) else {
      return .failure(ParseError(reason: "the line is not valid UTF-8"))
    }
    return text.utf8.contains(0) ? .failure(ParseError(reason: "the line contains a NUL byte")) : .success(text)
  }
}
