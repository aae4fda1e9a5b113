/// The IP addresses and names that need a permission.
enum SpecialAddresses {
  typealias Entry = (range: AddressRange, reason: String)

  /// Returns the reason why an address with these readings is not on the public Internet; nil if it is.
  ///
  /// - Parameter isAllowed: Returns true if a reading is allowed although it is not public.
  static func reasonNotPublic(
    _ readings: [IPAddress], unless isAllowed: (IPAddress) -> Bool = { _ in false }
  ) -> String? {
    // An address may be a destination in several ways; each must be public. Readings that lead nowhere do not count.
    let destinations = readings.filter { !$0.isThisNetwork }
    for reading in destinations.isEmpty ? readings : destinations {
      guard let entry = notPublic.first(where: { $0.range.contains(reading) }), !isAllowed(reading) else { continue }
      return entry.reason
    }
    return nil
  }

  /// The names of metadata services: Google, Amazon, Azure.
  static let metadataNames: Set<String> = [
    "metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal",
    "metadata.azure.internal",
  ]

  private static func entries(_ table: [(String, Int, String)]) -> [Entry] {
    table.compactMap { text, length, reason in
      IPAddress(text).map { (AddressRange(prefix: $0, length: length), reason) }
    }
  }

  /// Link-local addresses and metadata services.
  static let alwaysRefused = entries([
    ("169.254.0.0", 16, "link-local"), ("fe80::", 10, "link-local"),
    // Amazon (including its containers), Google, Scaleway, Alibaba, Oracle, Azure.
    ("fd00:ec2::", 32, "a metadata service"), ("fd20:ce::254", 128, "a metadata service"),
    ("fd00:42::42", 128, "a metadata service"), ("100.100.100.200", 32, "a metadata service"),
    ("192.0.0.192", 32, "a metadata service"), ("168.63.129.16", 32, "a metadata service"),
  ])

  /// The IANA registries of special-purpose IP addresses (RFC 6890 and its updates).
  private static let notPublic = entries([
    ("0.0.0.0", 8, "this network"), ("10.0.0.0", 8, "private"), ("100.64.0.0", 10, "shared"),
    ("127.0.0.0", 8, "loopback"), ("172.16.0.0", 12, "private"), ("192.0.0.0", 24, "reserved"),
    ("192.0.2.0", 24, "documentation"), ("192.88.99.0", 24, "reserved"), ("192.168.0.0", 16, "private"),
    ("198.18.0.0", 15, "benchmarking"), ("198.51.100.0", 24, "documentation"),
    ("203.0.113.0", 24, "documentation"), ("224.0.0.0", 4, "multicast"), ("240.0.0.0", 4, "reserved"),
    ("::", 128, "unspecified"), ("::1", 128, "loopback"), ("100::", 64, "discard"), ("2001::", 23, "reserved"),
    ("2001:db8::", 32, "documentation"), ("3fff::", 20, "documentation"), ("5f00::", 16, "segment routing"),
    ("fc00::", 7, "private"), ("fec0::", 10, "site-local"), ("ff00::", 8, "multicast"),
  ])
}
