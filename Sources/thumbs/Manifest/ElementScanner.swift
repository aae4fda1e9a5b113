/// The role of one byte of a document in relation to the elements of its array.
enum ElementStep: Hashable, Sendable {
  /// The byte belongs to no element, and neither do the bytes collected since the last element.
  case outside
  /// The byte belongs to an element, or may turn out to.
  case inside
  /// The byte is the last of an element.
  case last
  /// The byte before this one was the last of an element.
  case endedBefore
}

/// Finds the elements of the array in a document, byte by byte, without validating their contents.
protocol ElementScanner: Sendable {
  /// The name of the format in messages.
  static var formatName: String { get }

  /// True if one invalid element makes the whole document invalid; false if it is a bad row.
  static var isStrict: Bool { get }

  /// Creates a scanner that is ready for the first byte.
  init()

  /// True if the array and everything around it have ended.
  var isComplete: Bool { get }

  /// Scans the next byte. Throws if the bytes so far cannot be the beginning of a valid document.
  mutating func take(_ byte: UInt8) throws(DocumentFlaw) -> ElementStep

  /// Parses `bytes`, an element that this scanner found.
  func value(of bytes: [UInt8]) throws(DocumentFlaw) -> Any
}

/// The limits of an element, which bound the memory that a document can take.
enum ElementLimits {
  /// The longest element, in bytes.
  static let longest = 16 << 20
  /// The deepest nesting of arrays and dictionaries.
  static let depth = 512
}
