/// The rows of a binary plist. It is read whole, because the table that locates its objects is at the end.
struct BinaryPlistRows: RowSource {
  /// The size limit of a plist, in bytes: enough for millions of rows.
  static let longest = 512 << 20

  private let plist: BinaryPlist
  private let keys: ManifestKeys
  private var index = 0

  /// Reads the plist in `reader`, whose columns are called as in `keys`.
  init(_ reader: LineReader, keys: ManifestKeys, limit: Int = longest) throws(ManifestError) {
    var reader = reader
    self.keys = keys
    guard let bytes = try reader.rest(limit: limit) else {
      let limit = ByteSize(count: limit)
      throw ManifestError(reader.name, "a binary plist larger than \(limit) uncompressed; split it, or use JSON or CSV")
    }
    do throws(DocumentFlaw) {
      plist = try BinaryPlist(bytes)
    } catch {
      throw ManifestError(reader.name, error.reason)
    }
  }

  var count: Int? { plist.count }

  /// Returns the next row. A row that is damaged or would take too much memory becomes a bad row.
  mutating func next() -> ManifestItem? {
    guard index < plist.count else { return nil }
    defer { index += 1 }
    do throws(DocumentFlaw) {
      return keys.item(try plist.element(index))
    } catch {
      return ManifestItem(content: .bad(error.reason))
    }
  }
}
