import Foundation

extension BinaryPlist {
  /// The header of an object: its type, its count, and the offset of its contents.
  struct Object {
    var type: UInt8
    var count: Int
    var start: Int
  }

  func object(_ reference: Int) throws(DocumentFlaw) -> Object {
    guard reference < objectCount else { throw Self.damaged }
    let offset = try Self.number(bytes, at: offsets + reference * offsetSize, size: offsetSize)
    guard offset >= 8, offset < offsets else { throw Self.damaged }
    let object = Object(type: bytes[offset] >> 4, count: Int(bytes[offset] & 15), start: offset + 1)
    guard object.count == 15, object.type >= 4, object.type != 8 else { return object }
    // A count of 15 or more is stored as an integer object after the marker.
    guard object.start < offsets, bytes[object.start] >> 4 == 1 else { throw Self.damaged }
    let size = 1 << Int(bytes[object.start] & 15)
    return Object(
      type: object.type, count: try Self.number(bytes, at: object.start + 1, size: size),
      start: object.start + 1 + size)
  }

  /// The number of content bytes for each unit of an object's count.
  func contentSize(of object: Object) -> Int {
    switch object.type {
    case 0x6: 2
    case 0xA, 0xC: referenceSize
    case 0xD: 2 * referenceSize
    default: 1
    }
  }

  /// The range of the contents of `object`, which takes `size` bytes for each unit of its count.
  func contents(of object: Object, each size: Int) throws(DocumentFlaw) -> Range<Int> {
    let count =
      switch object.type {
      case 0x0: 0
      case 0x1, 0x2, 0x3: 1 << object.count
      case 0x8: object.count + 1
      default: object.count
      }
    guard object.start <= offsets, count <= (offsets - object.start) / size else { throw Self.damaged }
    return object.start..<object.start + count * size
  }

  /// The value of an object that contains no other objects.
  func scalar(_ object: Object, _ contents: Range<Int>) throws(DocumentFlaw) -> Any {
    switch object.type {
    case 0x0 where object.count == 8 || object.count == 9: return object.count == 9
    case 0x0: return NSNull()
    case 0x1: return contents.count > 8 ? Double.infinity : try Self.signed(bytes, contents)
    case 0x2 where contents.count == 4:
      return Double(Float(bitPattern: UInt32(try Self.number(bytes, at: contents.lowerBound, size: 4))))
    case 0x2 where contents.count == 8, 0x3 where contents.count == 8:
      return Double(bitPattern: UInt64(bitPattern: Int64(try Self.signed(bytes, contents))))
    case 0x4: return Data(bytes[contents])
    case 0x5: return String(decoding: bytes[contents], as: UTF8.self)
    case 0x6:
      let units = stride(from: contents.lowerBound, to: contents.upperBound, by: 2).map {
        UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
      }
      return String(decoding: units, as: UTF16.self)
    case 0x8: return try Self.signed(bytes, contents)
    default: throw Self.damaged
    }
  }

  /// Reads the `size` bytes at `offset` as a big-endian unsigned number.
  static func number(_ bytes: [UInt8], at offset: Int, size: Int) throws(DocumentFlaw) -> Int {
    guard size <= 16, offset >= 0, offset <= bytes.count - size else { throw damaged }
    var number: UInt64 = 0
    for byte in bytes[offset..<offset + size] {
      guard number >> 56 == 0 else { throw damaged }
      number = number << 8 | UInt64(byte)
    }
    guard let number = Int(exactly: number) else { throw damaged }
    return number
  }

  /// Reads an integer, which is signed if it has eight bytes and unsigned if it is shorter.
  private static func signed(_ bytes: [UInt8], _ contents: Range<Int>) throws(DocumentFlaw) -> Int {
    guard contents.count <= 8 else { throw damaged }
    return Int(truncatingIfNeeded: bytes[contents].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
