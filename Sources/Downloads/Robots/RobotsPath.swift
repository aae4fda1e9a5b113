/// A URL's path with its query, or the pattern of a rule, in the form in which the two are compared (RFC 9309, section
/// 2.2.2).
///
/// Unreserved octets and the delimiters `/`, `?`, `=` and `&` represent themselves, so `%62` becomes `b`. Any other
/// octet becomes an escape, so `:` is equal to `%3A`. An escape has two bytes that occur nowhere else, so a search
/// never finds a part of one.
struct RobotsPath {
  /// The bytes to compare.
  private(set) var bytes: [UInt8] = []
  /// The number of octets of the percent-encoded form.
  private(set) var octets = 0

  /// The byte that represents any number of octets in a pattern. A path has an escape instead.
  static let wildcard = UInt8(ascii: "*")

  /// - Parameters:
  ///   - text: The path or the pattern as it was written.
  ///   - isPattern: True if `*` is a wildcard. Default false.
  ///   - escapesQuery: True if a slash in the query is equal to `%2F`, because it does not separate anything there.
  ///     Default false.
  init(_ text: ArraySlice<UInt8>, isPattern: Bool = false, escapesQuery: Bool = false) {
    bytes.reserveCapacity(text.count)
    var (rest, isQuery) = (text, false)
    while let byte = rest.popFirst() {
      if let value = Self.escapedOctet(byte, before: rest) {
        rest = rest.dropFirst(2)
        value.isUnreserved ? append(value) : appendEscape(of: value)
      } else if byte.isUnreserved || Self.isDelimiter(byte, escapesSlash: isQuery && escapesQuery) {
        isQuery = isQuery || byte == UInt8(ascii: "?")
        append(byte)
      } else {
        byte == Self.wildcard && isPattern ? append(byte) : appendEscape(of: byte)
      }
    }
  }

  private static func isDelimiter(_ byte: UInt8, escapesSlash: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "/"): !escapesSlash
    case UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"): true
    default: false
    }
  }

  /// Returns the octet that a percent sign and the digits after it encode; nil if `byte` does not begin an encoding.
  private static func escapedOctet(_ byte: UInt8, before rest: ArraySlice<UInt8>) -> UInt8? {
    guard byte == UInt8(ascii: "%") else { return nil }
    let digits = rest.prefix(2).compactMap(\.hexDigitValue)
    return digits.count == 2 ? digits[0] << 4 | digits[1] : nil
  }

  private mutating func append(_ byte: UInt8) {
    bytes.append(byte)
    octets += 1
  }

  private mutating func appendEscape(of octet: UInt8) {
    bytes.append(0x80 | octet >> 4)
    bytes.append(0x90 | octet & 15)
    octets += 3
  }
}

extension UInt8 {
  /// True for the octets that are never percent-encoded (RFC 3986, section 2.3).
  fileprivate var isUnreserved: Bool {
    switch self {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: isASCIIAlphanumeric
    }
  }
}
