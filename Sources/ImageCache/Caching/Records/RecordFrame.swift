import CXXHash

/// The frame around the fields of every record: the version of the format, the kind of the record, the fields, and an
/// XXH3-64 checksum over all of them and the body that belongs to the record.
///
/// A record describes itself, so that it can be stored in any place: in a row of the disk tier, or on a server that
/// several machines share. A change of any field needs a new ``version``; records of another version are not read.
enum RecordFrame {
  /// The kinds of records.
  enum Kind: UInt8 {
    case source = 1
    case thumbnail, original, verdict
  }

  static let version: UInt8 = 1
  private static let checksumSize = 8

  /// Returns the record of `kind` with the fields that `fill` adds, for `body`.
  static func seal(_ kind: Kind, body: [UInt8] = [], _ fill: (inout RecordWriter) -> Void) -> [UInt8] {
    var writer = RecordWriter()
    writer.add(version)
    writer.add(kind.rawValue)
    fill(&writer)
    let sum = body.withUnsafeBytes { body in
      writer.bytes.withUnsafeBytes { checksum(of: $0, body) }
    }
    writer.add(sum)
    return writer.bytes
  }

  /// Returns a reader of the fields; nil if the record is of another version or kind, or if it or its body is damaged.
  static func open(
    _ record: UnsafeRawBufferPointer, _ kind: Kind, body: UnsafeRawBufferPointer = .empty
  ) -> RecordReader? {
    guard let reader = fields(of: record, kind) else { return nil }
    let end = record.count - checksumSize
    let expected = UInt64(littleEndian: record.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    guard checksum(of: UnsafeRawBufferPointer(rebasing: record[..<end]), body) == expected else { return nil }
    return reader
  }

  /// Returns a reader of the fields without comparing the checksum; nil if the record is of another version or kind.
  static func fields(of record: UnsafeRawBufferPointer, _ kind: Kind) -> RecordReader? {
    let end = record.count - checksumSize
    guard end >= 2, record[0] == version, record[1] == kind.rawValue else { return nil }
    return RecordReader(UnsafeRawBufferPointer(rebasing: record[2..<end]))
  }

  private static func checksum(of fields: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> UInt64 {
    xxh3_64(body.baseAddress, body.count, xxh3_64(fields.baseAddress, fields.count, 0))
  }
}

extension UnsafeRawBufferPointer {
  /// A buffer without bytes.
  static var empty: Self { Self(start: nil, count: 0) }
}
