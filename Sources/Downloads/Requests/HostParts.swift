/// The parts of a ``SourceURL/host``.
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

  /// The host without port, final dot, or the brackets of an IPv6 address.
  let name: String
  /// The port; nil for the default port of the scheme.
  let port: UInt16?
  /// True if the written name ends with a dot.
  let hasFinalDot: Bool
  /// The way to find the IP addresses.
  let kind: Kind

  /// Splits `host`, which libcurl has parsed and put into canonical form.
  init(of host: String) {
    let isBracketed = host.utf8.first == UInt8(ascii: "[")
    let text = host.dropFirst(isBracketed ? 1 : 0).utf8
    let end = text.firstIndex(of: UInt8(ascii: isBracketed ? "]" : ":")) ?? text.endIndex
    hasFinalDot = !isBracketed && text[..<end].last == UInt8(ascii: ".")
    let written = text[..<end].dropLast(hasFinalDot ? 1 : 0)
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
