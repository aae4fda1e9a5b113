internal import Glibc

/// An IPv4 or IPv6 address.
package struct IPAddress: Hashable, Sendable {
  /// The address as four or sixteen bytes in network order.
  let bytes: [UInt8]

  /// Parses the text form of an address with `inet_pton`; nil if it is not one.
  package init?(_ text: String) {
    var storage = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &storage) == 1 {
      bytes = Array(storage[..<4])
    } else if inet_pton(AF_INET6, text, &storage) == 1 {
      bytes = storage
    } else {
      return nil
    }
  }

  /// Returns true if `text` is an IPv4 address.
  static func isIPv4(_ text: String) -> Bool {
    var address: UInt32 = 0
    return text.withCString { inet_pton(AF_INET, $0, &address) } == 1
  }

  /// Creates an address from its bytes in network order; nil unless there are four or sixteen.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// The addresses of `localhost`, in connection order.
  static let loopback = [IPAddress("::1"), IPAddress("127.0.0.1")].compactMap { $0 }

  /// The possible destinations of the address: itself, and the IPv4 addresses that are embedded in it. Without itself
  /// if packets always go to the embedded address, or to nowhere.
  var readings: [IPAddress] {
    guard bytes.count == 16, !isUnspecifiedOrLoopback else { return [self] }
    let embedding = Self.embeddings.first { hasPrefix($0.prefix, length: $0.length) }
    let embedded = embedding?.offsets.compactMap { address(at: $0) } ?? []
    let obfuscated = embedding?.hidesClient == true ? [address(at: 12...15, mask: 0xFF)] : []
    let tunneled = isISATAP ? [address(at: 12...15)] : []
    let own = embedding?.isTranslated == true ? [] : [self]
    return own + embedded + (obfuscated + tunneled).compactMap { $0 }
  }

  /// True for an address in 0.0.0.0/8, which is never a destination on a network (RFC 1122, section 3.2.1.3).
  var isThisNetwork: Bool { bytes.count == 4 && bytes[0] == 0 }

  private var isUnspecifiedOrLoopback: Bool { bytes.dropLast().allSatisfy { $0 == 0 } && (bytes.last ?? 0) <= 1 }

  /// True for an interface identifier of ISATAP, at whose end is the IPv4 address of the interface (RFC 5214, section
  /// 6.1). It may follow any prefix.
  private var isISATAP: Bool { bytes[8] & 0xFD == 0 && bytes[9] == 0 && bytes[10] == 0x5E && bytes[11] == 0xFE }

  private func address(at offsets: some Sequence<Int>, mask: UInt8 = 0) -> IPAddress? {
    IPAddress(bytes: offsets.map { bytes[$0] ^ mask })
  }

  /// A prefix of addresses that contain an IPv4 address.
  private struct Embedding {
    let prefix: IPAddress
    let length: Int
    /// The places where the address may be.
    let offsets: [[Int]]
    /// True if a packet goes to the IPv4 address alone.
    var isTranslated = true
    /// True if the last four bytes are an address with all bits inverted.
    var hidesClient = false

    init?(_ prefix: String, _ length: Int, at offsets: [[Int]], isTranslated: Bool = true, hidesClient: Bool = false) {
      guard let prefix = IPAddress(prefix) else { return nil }
      (self.prefix, self.length, self.offsets) = (prefix, length, offsets)
      (self.isTranslated, self.hidesClient) = (isTranslated, hidesClient)
    }
  }

  private static let atEnd = [[12, 13, 14, 15]]

  /// The prefixes with an embedded IPv4 address. The local NAT64 prefix has a length that each network chooses, so the
  /// address may be at several places (RFC 6052, section 2.2).
  private static let embeddings: [Embedding] = [
    // IPv4-mapped (RFC 4291, section 2.5.5.2), NAT64 (RFC 6052), local NAT64 (RFC 8215), 6to4 (RFC 3056).
    Embedding("::ffff:0:0", 96, at: atEnd), Embedding("64:ff9b::", 96, at: atEnd),
    Embedding("64:ff9b:1::", 48, at: atEnd + [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]]),
    Embedding("2002::", 16, at: [[2, 3, 4, 5]]),
    // Teredo: the server, and the client behind its NAT (RFC 4380, section 4).
    Embedding("2001::", 32, at: [[4, 5, 6, 7]], hidesClient: true),
    // IPv4-translated (RFC 2765, section 2.1) and IPv4-compatible (RFC 4291, section 2.5.5.1) are obsolete.
    Embedding("::ffff:0:0:0", 96, at: atEnd, isTranslated: false), Embedding("::", 96, at: atEnd, isTranslated: false),
  ].compactMap { $0 }

  /// Returns true if the first `length` bits equal those of `prefix`.
  func hasPrefix(_ prefix: IPAddress, length: Int) -> Bool {
    guard prefix.bytes.count == bytes.count else { return false }
    let whole = length / 8
    guard bytes[..<whole] == prefix.bytes[..<whole] else { return false }
    let rest = length % 8
    return rest == 0 || (bytes[whole] ^ prefix.bytes[whole]) >> (8 - rest) == 0
  }
}

extension IPAddress: CustomStringConvertible {
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension IPAddress {
  /// An IPv6 address in hexadecimal groups only, as the URL standard writes it (section 3.5). ``description`` ends with
  /// an IPv4 address if there is one in it.
  var groups: String {
    guard let dots = description.lastIndex(of: ":"), description.contains(".") else { return description }
    let pairs = [bytes[12...13], bytes[14...15]].map { pair in
      String(pair.reduce(0) { $0 << 8 | Int($1) }, radix: 16)
    }
    return description[...dots] + pairs.joined(separator: ":")
  }

  /// True if the address is on the public Internet.
  package var isPublic: Bool { AddressPolicy.publicOnly.refusal(of: self, for: description) == nil }
}

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

/// The IP addresses and names that need a permission.
enum SpecialAddresses {
  /// A range of IP addresses with a special purpose.
  struct Block: Sendable {
    let range: AddressRange
    /// The purpose, as messages name it.
    let reason: String
    /// True if the registry lists the range as globally reachable.
    let isGlobal: Bool
  }

  /// Returns the reason why an address with these readings is not on the public Internet; nil if it is.
  ///
  /// - Parameter isAllowed: Returns true if a reading is allowed although it is not public.
  static func reasonNotPublic(
    _ readings: [IPAddress], unless isAllowed: (IPAddress) -> Bool = { _ in false }
  ) -> String? {
    // An address may be a destination in several ways; each must be public. Readings that lead nowhere do not count.
    let destinations = readings.filter { !$0.isThisNetwork }
    for reading in destinations.isEmpty ? readings : destinations {
      if let reason = reasonNotPublic(reading), !isAllowed(reading) { return reason }
    }
    return nil
  }

  /// IPv4 addresses are public unless a block says otherwise, because nearly all are assigned. Of IPv6 addresses, only
  /// those that IANA assigns from can be public.
  private static func reasonNotPublic(_ address: IPAddress) -> String? {
    let block = blocks.filter { $0.range.contains(address) }.max { $0.range.length < $1.range.length }
    if let block { return block.isGlobal ? nil : block.reason }
    return address.bytes.count == 4 || globalUnicast?.contains(address) == true ? nil : "reserved"
  }

  /// The names of metadata services: Google, Amazon, Azure.
  static let metadataNames: Set<String> = [
    "metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal",
    "metadata.azure.internal",
  ]

  /// Link-local addresses and metadata services.
  static let alwaysRefused = table([
    ("169.254.0.0/16", "link-local", false), ("fe80::/10", "link-local", false),
    // Amazon (including its containers), Google, Scaleway, Alibaba, Oracle, Azure.
    ("fd00:ec2::/32", "a metadata service", false), ("fd20:ce::254", "a metadata service", false),
    ("fd00:42::42", "a metadata service", false), ("100.100.100.200", "a metadata service", false),
    ("192.0.0.192", "a metadata service", false), ("168.63.129.16", "a metadata service", false),
  ])

  /// The addresses from which IANA assigns (IPv6 Global Unicast Address Assignments).
  private static let globalUnicast = try? AddressRange("2000::/3")

  /// The IANA IPv4 and IPv6 Special-Purpose Address Registries, as of 2024-10-22, with the one range that RFC 9780
  /// added in 2025, and the multicast ranges (RFC 5771, RFC 4291). The longest range that matches counts. Ranges that
  /// embed an IPv4 address are left out; see ``IPAddress/readings``. So is the deprecated `2001:10::/28`, for which the
  /// range around it counts.
  ///
  /// iana.org/assignments/iana-ipv4-special-registry, iana.org/assignments/iana-ipv6-special-registry
  static let blocks = table([
    ("0.0.0.0/8", "this network", false), ("10.0.0.0/8", "private", false), ("100.64.0.0/10", "shared", false),
    ("127.0.0.0/8", "loopback", false), ("169.254.0.0/16", "link-local", false), ("172.16.0.0/12", "private", false),
    ("192.0.0.0/24", "protocol assignments", false), ("192.0.0.9/32", "PCP anycast", true),
    ("192.0.0.10/32", "TURN anycast", true), ("192.0.2.0/24", "documentation", false),
    ("192.31.196.0/24", "AS112", true), ("192.52.193.0/24", "AMT", true), ("192.88.99.0/24", "6to4 relays", false),
    ("192.168.0.0/16", "private", false), ("192.175.48.0/24", "AS112", true), ("198.18.0.0/15", "benchmarking", false),
    ("198.51.100.0/24", "documentation", false), ("203.0.113.0/24", "documentation", false),
    ("224.0.0.0/4", "multicast", false), ("240.0.0.0/4", "reserved", false), ("255.255.255.255/32", "broadcast", false),
    ("::/128", "unspecified", false), ("::1/128", "loopback", false), ("100::/64", "discard", false),
    ("100:0:0:1::/64", "dummy", false), ("2001::/23", "protocol assignments", false),
    ("2001:1::1/128", "PCP anycast", true), ("2001:1::2/128", "TURN anycast", true),
    ("2001:1::3/128", "DNS-SD anycast", true), ("2001:2::/48", "benchmarking", false), ("2001:3::/32", "AMT", true),
    ("2001:4:112::/48", "AS112", true), ("2001:20::/28", "ORCHIDv2", true), ("2001:30::/28", "drone tags", true),
    ("2001:db8::/32", "documentation", false), ("2620:4f:8000::/48", "AS112", true),
    ("3fff::/20", "documentation", false), ("5f00::/16", "segment routing", false), ("fc00::/7", "private", false),
    ("fe80::/10", "link-local", false), ("fec0::/10", "site-local", false), ("ff00::/8", "multicast", false),
  ])

  private static func table(_ rows: [(range: String, reason: String, isGlobal: Bool)]) -> [Block] {
    rows.compactMap { row in
      (try? AddressRange(row.range)).map { Block(range: $0, reason: row.reason, isGlobal: row.isGlobal) }
    }
  }
}
