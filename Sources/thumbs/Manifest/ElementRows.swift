/// The rows of a document that is an array: JSON, or a plist in XML. They are read one at a time, in memory that does not
/// grow with the document.
struct ElementRows<Scanner: ElementScanner>: RowSource {
  /// How much of a file is checked before its first row, so that a small document which makes no sense is refused
  /// before anything is fetched. Standard input is worked on while it comes.
  private static var checkedLength: Int { 1 << 20 }

  private var elements: ElementReader<Scanner>
  private let keys: ManifestKeys
  private var checked: ArraySlice<ManifestItem> = []

  /// The rows of the document in `reader`, with the columns of `keys`.
  init(_ reader: LineReader, keys: ManifestKeys) throws(ManifestError) {
    elements = ElementReader(reader)
    self.keys = keys
    guard reader.isFile else { return }
    while elements.count < Self.checkedLength, let item = try nextUnchecked() { checked.append(item) }
  }

  /// The next row. An element of JSON that is whole and makes no sense is a bad row: the others can still be read.
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
