/// The header fields of a stored response as bytes. They are unpacked only for validation and for people; a fresh hit
/// needs none of them.
struct PackedFields: Hashable, Sendable {
  /// The most bytes that are stored on disk.
  static let longest = 1 << 20

  let bytes: [UInt8]

  /// Packs `fields`.
  init(_ fields: ResponseFields) {
    var writer = RecordWriter(capacity: 256)
    fields.forEach { writer.add($0) }
    bytes = writer.bytes
  }

  /// Takes over the bytes of packed fields.
  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The fields. Those that cannot be unpacked are missing.
  var fields: ResponseFields {
    bytes.withUnsafeBytes { bytes in
      var reader = RecordReader(bytes)
      return ResponseFields { reader.text(atMost: Self.longest) }
    }
  }
}
