/// The rows of a format that is read whole: a plist or a JSON document. All of it is checked before the first row.
struct DocumentRows: RowSource {
  private var items: IndexingIterator<[ManifestItem]>

  /// The rows of the plist in `reader`.
  init(plist reader: LineReader, keys: ManifestKeys) throws(ManifestError) {
    try self.init(reader, keys: keys, kind: "plist") { bytes throws(DocumentFlaw) in try PlistDocument.parse(bytes) }
  }

  /// The rows of the JSON document in `reader`.
  init(json reader: LineReader, keys: ManifestKeys) throws(ManifestError) {
    try self.init(reader, keys: keys, kind: "JSON") { bytes throws(DocumentFlaw) in try JSONDocument.parse(bytes) }
  }

  private init(
    _ reader: LineReader, keys: ManifestKeys, kind: String, parse: ([UInt8]) throws(DocumentFlaw) -> Any
  ) throws(ManifestError) {
    var reader = reader
    let bytes = try reader.rest()
    do throws(DocumentFlaw) {
      guard let elements = try parse(bytes) as? [Any] else {
        throw DocumentFlaw(reason: "the top level of the \(kind) is not an array")
      }
      items = elements.map { keys.item($0) }.makeIterator()
    } catch {
      throw ManifestError(reader.name, at: error.place(in: bytes), error.reason)
    }
  }

  /// The next row.
  mutating func next() -> ManifestItem? { items.next() }
}
