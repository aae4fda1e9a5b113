/// JSON lines: an object, or a string with the address, on each line. Empty lines are no items.
struct JSONLineRows: RowSource {
  private var lines: LineReader
  private let keys: ManifestKeys

  /// The rows of `lines`, with the columns of `keys`.
  init(_ lines: LineReader, keys: ManifestKeys) {
    self.lines = lines
    self.keys = keys
  }

  /// The next row. A line that is not JSON is a bad row: the others can still be read.
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
