/// A binary property list (`bplist00`) whose top level is an array, read one element at a time.
///
/// Any number of objects may refer to the same object, so a few hundred bytes can expand to gigabytes. To bound memory,
/// only the requested element is built, within a budget.
struct BinaryPlist: Sendable {
  /// The most memory that one element may take, in bytes: its contents, plus ``objectCost`` for each object.
  static let budget = ElementLimits.longest
  /// The bytes charged to the budget for each object, in addition to its contents.
  static let objectCost = 64

  static let damaged = DocumentFlaw(reason: "the binary plist is damaged")

  let bytes: [UInt8]
  let objectCount: Int
  let offsetSize: Int
  let referenceSize: Int
  let offsets: Int
  /// The range of the references to the elements.
  private var elements = 0..<0

  /// Opens the plist in `bytes`. Its last 32 bytes, the trailer, locate everything else.
  init(_ bytes: [UInt8]) throws(DocumentFlaw) {
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
    guard object.type == 0xA else { throw DocumentFlaw(reason: "the top level of the plist is not an array") }
    elements = try contents(of: object, each: referenceSize)
  }

  /// The number of elements.
  var count: Int { elements.count / referenceSize }

  /// Returns the element at `index`, as the same values that Foundation's parser would produce.
  func element(_ index: Int, budget: Int = budget) throws(DocumentFlaw) -> Any {
    var budget = budget
    return try value(of: reference(index, in: elements), depth: 0, budget: &budget)
  }
}

extension BinaryPlist {
  private func value(of reference: Int, depth: Int, budget: inout Int) throws(DocumentFlaw) -> Any {
    guard depth < ElementLimits.depth else { throw DocumentFlaw(reason: "it is nested too deeply") }
    let object = try object(reference)
    let contents = try contents(of: object, each: contentSize(of: object))
    budget -= Self.objectCost + contents.count
    guard budget >= 0 else { throw DocumentFlaw(reason: "longer than \(ByteSize(count: Self.budget))") }
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

  private func values(of references: Range<Int>, depth: Int, budget: inout Int) throws(DocumentFlaw) -> [Any] {
    var values: [Any] = []
    for index in 0..<references.count / referenceSize {
      values.append(try value(of: reference(index, in: references), depth: depth + 1, budget: &budget))
    }
    return values
  }

  private func reference(_ index: Int, in references: Range<Int>) throws(DocumentFlaw) -> Int {
    try Self.number(bytes, at: references.lowerBound + index * referenceSize, size: referenceSize)
  }
}
