/// The rows of a binary plist, which is read whole: only its end tells where anything is.
struct BinaryPlistRows: RowSource {
  /// The longest plist, in bytes: some millions of rows.
  static let longest = 512 << 20

  private let plist: BinaryPlist
  private let keys: ManifestKeys
  private var index = 0

  /// The rows of the plist in `reader`, with the columns of `keys`.
  init(_ reader: LineReader, keys: ManifestKeys, limit: Int = longest) throws(ManifestError) {
    var reader = reader
    self.keys = keys
    guard let bytes = try reader.rest(limit: limit) else {
      let limit = ByteSize(count: limit)
      throw ManifestError(reader.name, "a binary plist of more than \(limit), unpacked; split it, or use JSON or CSV")
    }
    do throws(DocumentFlaw) {
      plist = try BinaryPlist(bytes)
    } catch {
      throw ManifestError(reader.name, error.reason)
    }
  }

  /// The next row. One that is damaged, or would take too much memory, fails alone.
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
