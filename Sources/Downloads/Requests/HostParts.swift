/// The parts of a ``SourceURL/host``, which is in canonical form; see ``canonical(_:)``.
struct HostParts: Sendable {
  /// The ways to find the IP addresses of a host.
  enum Kind {
    /// The host is an IP address.
    case address
    /// The name is `localhost` or a subdomain of it.
    case loopbackName
    /// The name has to be looked up.
    case name
  }

  /// The host without port, or the brackets of an IPv6 address.
  let name: String
  /// The port; nil for the default port of the scheme.
  let port: UInt16?
  /// The way to find the IP addresses.
  let kind: Kind

  /// Splits `host`.
  init(of host: String) {
    let isBracketed = host.utf8.first == UInt8(ascii: "[")
    let text = host.dropFirst(isBracketed ? 1 : 0).utf8
    let end = text.firstIndex(of: UInt8(ascii: isBracketed ? "]" : ":")) ?? text.endIndex
    let written = text[..<end]
    // Most hosts are nothing but a name, which then shares its memory with the host.
    name = written.endIndex == host.endIndex && !isBracketed ? host : String(Substring(written))
    let digits = text[end...].dropFirst(isBracketed ? 2 : 1)
    port = digits.isEmpty ? nil : digits.reduce(0) { $0 &* 10 &+ UInt16($1 & 15) }
    kind = Self.kind(of: name, isBracketed: isBracketed)
  }

  private static func kind(of name: String, isBracketed: Bool) -> Kind {
    guard !isBracketed else { return .address }
    if name == "localhost" || name.hasSuffix(".localhost") { return .loopbackName }
    // An IPv4 address ends with a digit, and an IPv6 address has brackets.
    guard let last = name.utf8.last, last.isASCIIDigit else { return .name }
    return IPAddress.isIPv4(name) ? .address : .name
  }
}

// The canonical form. Whatever reads a host, from the rule for IP addresses to a proxy, gets this one: two readings of
// the same text would be a way around the rule.
extension HostParts {
  /// Returns the canonical form of a host without its port, which is in lower case and ASCII; nil if it cannot be a
  /// host. It has no final dot. An IPv4 address is four decimal numbers, however it was written, and an IPv6 address
  /// is in its shortest form.
  ///
  /// A host whose last label is a number is an IPv4 address or invalid (URL standard, section 3.5): programs differ in
  /// the numbers that they accept, such as `0251.0376.43518` or `0xa9fea9fe`, and one of them may be the next hop.
  static func canonical(_ host: String) -> String? {
    if host.utf8.first == UInt8(ascii: "[") {
      let address = host.utf8.last == UInt8(ascii: "]") ? IPAddress(String(host.dropFirst().dropLast())) : nil
      return address.flatMap { $0.bytes.count == 16 ? "[\($0)]" : nil }
    }
    let name = host.utf8.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard let last = labels.last, isNumber(last) else { return isName(labels) ? String(name) : nil }
    return address(of: labels).map { "\($0)" }
  }

  /// Returns true if the labels have the syntax of a host name (RFC 1123, section 2.1). Underscores are accepted too,
  /// because some hosts use them.
  private static func isName(_ labels: [Substring.UTF8View]) -> Bool {
    labels.allSatisfy { label in
      !label.isEmpty && label.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }
  }

  /// Returns true for digits, even if they are no valid number, such as `08`, and for a number in any notation.
  private static func isNumber(_ label: Substring.UTF8View) -> Bool {
    !label.isEmpty && label.allSatisfy(\.isASCIIDigit) || number(label) != nil
  }

  /// Returns the IPv4 address that the labels stand for, the last of which fills the remaining bytes; nil if they stand
  /// for none.
  private static func address(of labels: [Substring.UTF8View]) -> IPAddress? {
    let numbers = labels.compactMap { number($0) }
    guard (1...4).contains(labels.count), numbers.count == labels.count, let last = numbers.last,
      numbers.dropLast().allSatisfy({ $0 <= 0xFF }), last >> (8 * (5 - numbers.count)) == 0
    else { return nil }
    let lastBytes = (numbers.count - 1..<4).map { UInt8(truncatingIfNeeded: last >> (8 * (3 - $0))) }
    return IPAddress(bytes: numbers.dropLast().map { UInt8($0) } + lastBytes)
  }

  /// Returns the value of a decimal, octal (`0…`) or hexadecimal (`0x…`) number, at most 2^32; nil for any other text.
  private static func number(_ label: Substring.UTF8View) -> UInt64? {
    guard let first = label.first else { return nil }
    var (digits, radix): (Substring.UTF8View, UInt64) = (label, 10)
    if first == UInt8(ascii: "0"), label.count > 1 {
      let isHexadecimal = label.dropFirst().first == UInt8(ascii: "x")
      (digits, radix) = isHexadecimal ? (label.dropFirst(2), 16) : (label.dropFirst(), 8)
    }
    var value: UInt64 = 0
    for digit in digits {
      guard let digit = digit.hexDigitValue, digit < radix else { return nil }
      value = min(value * radix + UInt64(digit), 1 << 32)
    }
    return value
  }
}
