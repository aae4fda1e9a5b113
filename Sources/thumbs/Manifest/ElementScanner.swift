/// What a byte of a document is to the elements of the array that the document holds.
enum ElementStep: Hashable, Sendable {
  /// It belongs to no element. What was collected since the last element is none either.
  case outside
  /// It belongs to an element, or may.
  case inside
  /// It is the last byte of an element.
  case last
  /// The element ended with the byte before it.
  case endedBefore
}

/// Finds the elements of the array that a document holds, one byte after the other. Does not judge what is in them.
protocol ElementScanner: Sendable {
  /// What messages call the format.
  static var formatName: String { get }

  /// Whether an element that makes no sense spoils the document. Otherwise it is a bad row.
  static var isStrict: Bool { get }

  /// A scanner before the first byte.
  init()

  /// Whether the array, and all that encloses it, has ended.
  var isComplete: Bool { get }

  /// Takes the next byte. Throws where no byte may follow that makes a document of this.
  mutating func take(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep

  /// The value of the element in `bytes`, which this scanner found.
  func value(of bytes: [UInt8]) throws(DocumentFlaw) -> Any
}

/// What an element may be, so that no document takes more memory than this.
enum ElementLimits {
  /// The longest element, in bytes.
  static let longest = 16 << 20
  /// Arrays and dictionaries inside one another.
  static let depth = 512
}
