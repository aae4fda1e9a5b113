/// The rule for the IP addresses to which connections are allowed. It is checked against the address itself when the
/// socket is opened, so neither a redirect nor a name that resolves differently the next time can bypass it.
public enum AddressPolicy: Hashable, Sendable {
  /// All addresses except link-local ones and the metadata services of cloud providers, which hand out credentials.
  case noLinkLocal
  /// Only addresses on the public Internet.
  case publicOnly

  /// Returns the reason why connections to `address` are refused; nil if they are allowed.
  func refusal(of address: IPAddress) -> String? {
    let readings = address.readings
    for reading in readings {
      if let range = Self.first(of: Self.alwaysRefused, containing: reading) { return range.reason }
    }
    guard self == .publicOnly else { return nil }
    // An address may be a destination in several ways; each must be public. Readings that lead nowhere do not count.
    let destinations = readings.filter { !$0.isThisNetwork }
    for reading in destinations.isEmpty ? readings : destinations {
      if let range = Self.first(of: Self.notPublic, containing: reading) { return range.reason }
    }
    return nil
  }

  /// Returns the reason why requests to the host `name` are refused; nil if its addresses decide. Behind a proxy, this
  /// machine does not see the address.
  func refusal(ofName name: String) -> String? {
    Self.metadataNames.contains(name.lowercased()) ? "a metadata service" : nil
  }

  /// The names of metadata services: Google, Amazon, Azure.
  private static let metadataNames: Set<String> = [
    "metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal",
    "metadata.azure.internal",
  ]

  private typealias Range = (prefix: IPAddress, length: Int, reason: String)

  private static func first(of ranges: [Range], containing address: IPAddress) -> Range? {
    ranges.first { address.hasPrefix($0.prefix, length: $0.length) }
  }

  private static func ranges(_ table: [(String, Int, String)]) -> [Range] {
    table.compactMap { text, length, reason in IPAddress(text).map { ($0, length, reason) } }
  }

  private static let alwaysRefused = ranges([
    ("169.254.0.0", 16, "link-local"), ("fe80::", 10, "link-local"),
    // Amazon (including its containers), Google, Scaleway, Alibaba, Oracle, Azure.
    ("fd00:ec2::", 32, "a metadata service"), ("fd20:ce::254", 128, "a metadata service"),
    ("fd00:42::42", 128, "a metadata service"), ("100.100.100.200", 32, "a metadata service"),
    ("192.0.0.192", 32, "a metadata service"), ("168.63.129.16", 32, "a metadata service"),
  ])

  /// The IANA registries of special-purpose addresses (RFC 6890 and its updates).
  private static let notPublic = ranges([
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
