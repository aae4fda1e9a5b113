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
