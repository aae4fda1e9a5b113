/// A range of IP addresses, such as `10.20.0.0/16`, `fd12:3456::/32` or `192.168.1.7`.
public struct AddressRange: Hashable, Sendable {
  let prefix: IPAddress
  /// The number of bits that all IP addresses of the range have in common.
  let length: Int

  /// Parses an IPv4 or IPv6 address, and the length of its prefix after a slash. Bits beyond the prefix do not matter.
  /// Without a length, the range is one IP address.
  ///
  /// - Throws: `bad_url` if `text` is not a range.
  public init(_ text: String) throws(FetchFailure) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(String(parts[0])),
      let length = parts.count == 1 ? address.bytes.count * 8 : Self.number(parts[1]),
      (0...address.bytes.count * 8).contains(length)
    else { throw FetchFailure(.badURL, "The text is not a range of IP addresses: \(text.quotedForMessage)") }
    self.init(prefix: address, length: length)
  }

  /// Creates a range of all IP addresses whose first `length` bits are those of `prefix`.
  init(prefix: IPAddress, length: Int) {
    let bytes = prefix.bytes.enumerated().map { index, byte in
      byte & ~UInt8(truncatingIfNeeded: 0xFF >> (length - index * 8).clamped(to: 0...8))
    }
    self.prefix = IPAddress(bytes: bytes) ?? prefix
    self.length = length
  }

  /// Accepts digits only; `Int` alone would accept a sign.
  private static func number(_ text: Substring) -> Int? {
    !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit) ? Int(text) : nil
  }

  /// Returns true if `address` is in the range.
  func contains(_ address: IPAddress) -> Bool { address.hasPrefix(prefix, length: length) }

  /// Returns true if every IP address of `other` is in the range.
  func contains(_ other: AddressRange) -> Bool { other.length >= length && contains(other.prefix) }
}

extension AddressRange: CustomStringConvertible {
  /// The range in normal form, with the length of the prefix.
  public var description: String { "\(prefix)/\(length)" }
}
