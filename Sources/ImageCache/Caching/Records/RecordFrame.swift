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

/// Reads the fields of a record in order. A field outside the record, or longer than its limit, gives a zero or an
/// empty value and makes the whole record unusable.
struct RecordReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var isIntact = true

  /// Reads from `bytes`, which must stay valid as long as the reader is in use.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// True if every field so far was inside the record and nothing is left.
  var isComplete: Bool { isIntact && position == bytes.count }

  /// Reads a number.
  mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
    guard let field = take(MemoryLayout<Number>.size) else { return 0 }
    return Number(littleEndian: field.loadUnaligned(as: Number.self))
  }

  /// Reads a time or a size that is used in arithmetic. A number above 2^40 makes the record unusable.
  mutating func amount() -> Int? {
    let value = number(Int64.self)
    if value > 1 << 40 { isIntact = false }
    return value < 0 || !isIntact ? nil : Int(value)
  }

  /// Reads `count` bytes, valid as long as the record; empty if there are fewer.
  mutating func raw(_ count: Int) -> UnsafeRawBufferPointer {
    take(count) ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Reads the bytes of a text; nil if it is absent.
  ///
  /// - Parameter limit: The most bytes that the text may have.
  mutating func utf8(atMost limit: Int) -> UnsafeRawBufferPointer? {
    let length = Int(number(UInt32.self))
    guard length > 0 else { return nil }
    guard length - 1 <= limit else {
      isIntact = false
      return nil
    }
    return take(length - 1)
  }

  /// Reads a text; nil if it is absent.
  mutating func text(atMost limit: Int) -> String? {
    utf8(atMost: limit).map { String(decoding: $0, as: UTF8.self) }
  }

  private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard isIntact, count >= 0, count <= bytes.count - position else {
      isIntact = false
      return nil
    }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }
}

/// Packs the fields of a record: little-endian numbers, and texts with their length in front.
struct RecordWriter {
  private(set) var bytes: [UInt8] = []

  /// Creates an empty record with room for `capacity` bytes.
  init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

  /// Adds a number.
  mutating func add(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Adds a number or its absence. Negative numbers count as absent.
  mutating func add(amount: Int?) { add(Int64(amount ?? -1)) }

  /// Adds bytes whose number the reader knows.
  mutating func add(raw: some Collection<UInt8>) { bytes.append(contentsOf: raw) }

  /// Adds a text or its absence. The length is stored as a number greater by one; 0 means that there is no text.
  mutating func add(_ text: String?) {
    guard var text else { return add(UInt32(0)) }
    text.withUTF8 { utf8 in
      add(UInt32(truncatingIfNeeded: utf8.count + 1))
      bytes.append(contentsOf: utf8)
    }
  }
}
