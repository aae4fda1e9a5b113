/// The rows of a JSON Lines file: an object or a string with the URL on each line. Empty lines are skipped.
struct JSONLineRows: RowSource {
  private var lines: LineReader
  private let keys: ManifestKeys

  /// Reads `lines`, whose columns are called as in `keys`.
  init(_ lines: LineReader, keys: ManifestKeys) {
    self.lines = lines
    self.keys = keys
  }

  /// Returns the next row; nil after the last. A line that is not JSON is a bad row.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    while let line = try lines.next() {
      guard let bytes = line.bytes else {
        return ManifestItem(line: line.number, content: .bad("the line is too long"))
      }
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      do throws(DocumentFlaw) {
        return keys.item(try JSONDocument.parse(bytes), line: line.number)
      } catch {
        return ManifestItem(line: line.number, content: .bad("not JSON: \(error.reason)"))
      }
    }
    return nil
  }
}
