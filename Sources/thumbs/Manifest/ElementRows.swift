/// The rows of a document that is an array: JSON or an XML plist. They are read one at a time, in memory that does not
/// grow with the document.
struct ElementRows<Scanner: ElementScanner>: RowSource {
  /// The number of bytes of a file that are checked before its first row is returned, so that a small malformed file is
  /// rejected before anything is fetched. Standard input is not checked ahead, because its rows may arrive slowly.
  private static var checkedLength: Int { 1 << 20 }

  private var elements: ElementReader<Scanner>
  private let keys: ManifestKeys
  private var checked: ArraySlice<ManifestItem> = []

  /// Opens the document in `reader`, whose columns are called as in `keys`, and checks the beginning of a file.
  init(_ reader: LineReader, keys: ManifestKeys) throws(ManifestError) {
    elements = ElementReader(reader)
    self.keys = keys
    guard reader.isFile else { return }
    while elements.count < Self.checkedLength, let item = try nextUnchecked() { checked.append(item) }
  }

  var readAheadCount: Int { checked.count }

  /// Returns the next row. A complete but invalid JSON element is a bad row, because the others can still be read.
  mutating func next() throws(ManifestError) -> ManifestItem? {
    if let item = checked.popFirst() { return item }
    return try nextUnchecked()
  }

  private mutating func nextUnchecked() throws(ManifestError) -> ManifestItem? {
    guard let element = try elements.next() else { return nil }
    guard let bytes = element.bytes else {
      return ManifestItem(content: .bad("longer than \(ByteSize(count: ElementLimits.longest))"))
    }
    do throws(DocumentFlaw) {
      return keys.item(try elements.scanner.value(of: bytes))
    } catch {
      let place = elements.place(of: error, in: element)
      if Scanner.isStrict { throw ManifestError(elements.name, at: place ?? .whole, error.reason) }
      return ManifestItem(content: .bad(place.map { "\(error.reason), at \($0)" } ?? error.reason))
    }
  }
}
