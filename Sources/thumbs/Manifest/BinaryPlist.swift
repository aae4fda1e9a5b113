import Foundation

/// A binary property list (`bplist00`) whose top level is an array, read one element at a time.
///
/// Any number of objects may refer to the same object, so a few hundred bytes can expand to gigabytes. To bound memory,
/// only the requested element is built, within a budget.
struct BinaryPlist: Sendable {
  /// The most memory that one element may take, in bytes: its contents, plus ``objectCost`` for each object.
  static let budget = ElementLimits.longest
  /// The bytes charged to the budget for each object, in addition to its contents.
  static let objectCost = 64

  static let damaged = ParseError(reason: "the binary plist is damaged")

  let bytes: [UInt8]
  let objectCount: Int
  let offsetSize: Int
  let referenceSize: Int
  let offsets: Int
  /// The range of the references to the elements.
  private var elements = 0..<0

  /// Opens the plist in `bytes`. Its last 32 bytes, the trailer, locate everything else.
  init(_ bytes: [UInt8]) throws(ParseError) {
    let trailer = bytes.count - 32
    guard trailer >= 8, bytes.starts(with: "bplist0".utf8) else { throw Self.damaged }
    self.bytes = bytes
    (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    objectCount = try Self.number(bytes, at: trailer + 8, size: 8)
    let top = try Self.number(bytes, at: trailer + 16, size: 8)
    offsets = try Self.number(bytes, at: trailer + 24, size: 8)
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), offsets <= trailer,
      objectCount <= (trailer - offsets) / offsetSize
    else { throw Self.damaged }
    let object = try object(top)
    guard object.type == 0xA else { throw ParseError(reason: "the top level of the plist is not an array") }
    elements = try contents(of: object, each: referenceSize)
  }

  /// The number of elements.
  var count: Int { elements.count / referenceSize }

  /// Returns the element at `index`, as the same values that Foundation's parser would produce.
  func element(_ index: Int, budget: Int = budget) throws(ParseError) -> Any {
    var budget = budget
    return try value(of: reference(index, in: elements), depth: 0, budget: &budget)
  }
}

extension BinaryPlist {
  private func value(of reference: Int, depth: Int, budget: inout Int) throws(ParseError) -> Any {
    guard depth < ElementLimits.depth else { throw ParseError(reason: "it is nested too deeply") }
    let object = try object(reference)
    let contents = try contents(of: object, each: contentSize(of: object))
    budget -= Self.objectCost + contents.count
    guard budget >= 0 else { throw ParseError(reason: "longer than \(ByteSize(count: Self.budget))") }
    switch object.type {
    case 0xA, 0xC: return try values(of: contents, depth: depth, budget: &budget)
    case 0xD:
      let half = contents.lowerBound + contents.count / 2
      let keys = try values(of: contents.lowerBound..<half, depth: depth, budget: &budget)
      let values = try values(of: half..<contents.upperBound, depth: depth, budget: &budget)
      guard let names = keys as? [String] else { throw Self.damaged }
      return Dictionary(zip(names, values)) { first, _ in first }
    default: return try scalar(object, contents)
    }
  }

  private func values(of references: Range<Int>, depth: Int, budget: inout Int) throws(ParseError) -> [Any] {
    var values: [Any] = []
    for index in 0..<references.count / referenceSize {
      values.append(try value(of: reference(index, in: references), depth: depth + 1, budget: &budget))
    }
    return values
  }

  private func reference(_ index: Int, in references: Range<Int>) throws(ParseError) -> Int {
    try Self.number(bytes, at: references.lowerBound + index * referenceSize, size: referenceSize)
  }
}

// MARK: Objects

extension BinaryPlist {
  /// The header of an object: its type, its count, and the offset of its contents.
  struct Object {
    var type: UInt8
    var count: Int
    var start: Int
  }

  func object(_ reference: Int) throws(ParseError) -> Object {
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
  private func contentSize(of object: Object) -> Int {
    switch object.type {
    case 0x6: 2
    case 0xA, 0xC: referenceSize
    case 0xD: 2 * referenceSize
    default: 1
    }
  }

  /// The range of the contents of `object`, which takes `size` bytes for each unit of its count.
  func contents(of object: Object, each size: Int) throws(ParseError) -> Range<Int> {
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
  func scalar(_ object: Object, _ contents: Range<Int>) throws(ParseError) -> Any {
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
  static func number(_ bytes: [UInt8], at offset: Int, size: Int) throws(ParseError) -> Int {
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
  private static func signed(_ bytes: [UInt8], _ contents: Range<Int>) throws(ParseError) -> Int {
    guard contents.count <= 8 else { throw damaged }
    return Int(truncatingIfNeeded: bytes[contents].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}

/// The rows of a binary plist. It is read whole, because the table that locates its objects is at the end.
struct BinaryPlistRows: RowSource {
  /// The size limit of a plist, in bytes: enough for millions of rows.
  static let longest = 512 << 20

  private let plist: BinaryPlist
  private let keys: ManifestKeys
  private var index = 0

  /// Reads the plist in `reader`, whose columns are called as in `keys`.
  init(_ reader: LineReader, keys: ManifestKeys, limit: Int = longest) throws(InputError) {
    var reader = reader
    self.keys = keys
    guard let bytes = try reader.rest(limit: limit) else {
      let limit = ByteSize(count: limit)
      throw InputError(reader.name, "a binary plist larger than \(limit) uncompressed; split it, or use JSON or CSV")
    }
    do throws(ParseError) {
      plist = try BinaryPlist(bytes)
    } catch {
      throw InputError(reader.name, error.reason)
    }
  }

  var count: Int? { plist.count }

  /// Returns the next row. A row that is damaged or would take too much memory becomes a bad row.
  mutating func next() -> ManifestItem? {
    guard index < plist.count else { return nil }
    defer { index += 1 }
    do throws(ParseError) {
      return keys.item(try plist.element(index))
    } catch {
      return ManifestItem(content: .bad(error.reason))
    }
  }
}
