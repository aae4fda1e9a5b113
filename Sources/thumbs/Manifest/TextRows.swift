/// The rows of a text file with one URL per line, taken literally: a comma, quote or space inside a URL is part of it.
/// Empty lines and lines that begin with `#` are skipped.
struct TextRows: RowSource {
  private var lines: LineReader

  /// Reads the rows from `lines`.
  init(_ lines: LineReader) {
    self.lines = lines
  }

  /// Returns the next row; nil after the last. A line that is not text is a bad row.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    while let line = try lines.next(skipping: .spacesAndTabs) {
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

extension LineReader.Line {
  /// The line as UTF-8 text without NUL bytes, or the error in it.
  var text: Result<String, ParseError> {
    guard let bytes else { return .failure(ParseError(reason: "the line is too long")) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return .failure(ParseError(reason: "the line is not valid UTF-8"))
    }
    return text.utf8.contains(0) ? .failure(ParseError(reason: "the line contains a NUL byte")) : .success(text)
  }
}

/// The rows of a JSON Lines file: an object or a string with the URL on each line. Empty lines are skipped.
struct JSONLineRows: RowSource {
  private var lines: LineReader
  private let keys: ManifestKeys

  /// Reads `lines`, whose columns are called as in `keys`.
  init(_ lines: LineReader, keys: ManifestKeys) {
    self.lines = lines
    self.keys = keys
  }

  /// Returns true if the first line in `reader`, a file called `.json`, is a row by itself. Consumes nothing.
  static func isLikely(_ reader: inout LineReader, keys: ManifestKeys) throws(ManifestError) -> Bool {
    // A pipe is not read ahead, so that its first rows can start at once.
    guard reader.isFile else { return false }
    let start = try reader.peek(atLeast: LineReader.chunkLength).drop { $0 <= 0x20 }
    guard start.first == UInt8(ascii: "{") else { return false }
    let line = start.prefix { $0 != 0x0A }
    guard let value = try? JSONDocument.parse(Array(line)), case .url = keys.item(value).content else { return false }
    return true
  }

  /// Returns the next row; nil after the last. A line that is not JSON is a bad row.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    while let line = try lines.next(skipping: .spacesAndTabs) {
      guard let bytes = line.bytes else {
        return ManifestItem(line: line.number, content: .bad("the line is too long"))
      }
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      do throws(ParseError) {
        return keys.item(try JSONDocument.parse(bytes), line: line.number)
      } catch {
        return ManifestItem(line: line.number, content: .bad("not JSON: \(error.reason)"))
      }
    }
    return nil
  }
}
