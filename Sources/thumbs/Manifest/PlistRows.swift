import Foundation

/// The rows of an XML plist.
enum PlistRows {
  /// The size limit of a UTF-16 plist, in bytes. It is converted to UTF-8 in memory, all at once.
  static let longestUTF16 = 64 << 20

  /// Opens the plist in `reader`, which begins with `start`.
  static func xml(
    _ reader: LineReader, startingWith start: ArraySlice<UInt8>, keys: ManifestKeys
  ) throws(ManifestError) -> ElementRows<PlistArrayScanner> {
    if start.contains(0) || start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) {
      return try ElementRows(inUTF8(reader), keys: keys)
    }
    guard start.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else { throw notXML(reader, start) }
    return try ElementRows(reader, keys: keys)
  }

  /// The error that Foundation reports for `start`.
  private static func notXML(_ reader: LineReader, _ start: ArraySlice<UInt8>) -> ManifestError {
    do throws(DocumentFlaw) {
      _ = try PlistDocument.parse(Array(start))
      return ManifestError(reader.name, "not a plist in XML or binary form")
    } catch {
      return ManifestError(reader.name, at: error.place(in: Array(start)), error.reason)
    }
  }

  /// The UTF-16 encoding of `bytes`. Without a byte-order mark, the first character, `<`, reveals the byte order.
  private static func encoding(of bytes: [UInt8]) -> String.Encoding {
    if bytes.starts(with: [0x3C, 0]) { return .utf16LittleEndian }
    return bytes.starts(with: [0, 0x3C]) ? .utf16BigEndian : .utf16
  }

  /// Converts the text in `reader` to UTF-8, and drops the encoding from its XML declaration.
  private static func inUTF8(_ reader: LineReader) throws(ManifestError) -> LineReader {
    var reader = reader
    guard let bytes = try reader.rest(limit: longestUTF16) else {
      throw ManifestError(reader.name, "a UTF-16 plist larger than \(ByteSize(count: longestUTF16)); save it as UTF-8")
    }
    guard let text = String(bytes: bytes, encoding: encoding(of: bytes)) else {
      throw ManifestError(reader.name, "not a plist in XML or binary form")
    }
    let utf8 = Array(text.replacing(/^<\?xml[^>]*\?>/, with: "<?xml version=\"1.0\"?>", maxReplacements: 1).utf8)
    return LineReader(utf8, of: reader)
  }
}
