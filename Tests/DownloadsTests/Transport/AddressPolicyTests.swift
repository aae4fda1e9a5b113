import Testing

@testable import Downloads

@Suite struct AddressPolicyTests {
  private func isRefused(_ text: String, by policy: AddressPolicy) throws -> Bool {
    policy.refusal(of: try #require(IPAddress(text)), for: text) != nil
  }

  @Test(arguments: [
    "169.254.169.254", "169.254.0.1", "fe80::1", "febf::1", "fd00:ec2::254", "fd00:ec2::23", "100.100.100.200",
    "fd20:ce::254", "fd00:42::42", "192.0.0.192", "168.63.129.16", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:a9:fe:a9fe:0:0", "64:ff9b:1:0:a9:fea9:fe00:0",
    "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1",
    "::ffff:0:169.254.169.254", "::5efe:169.254.169.254", "2606:4700::200:5efe:a9fe:a9fe", "2606:4700::5efe:a9fe:a9fe",
    "2001:0:a9fe:a9fe::", "2001::5601:5601", "::ffff:0:100.100.100.200", "::5efe:192.0.0.192",
  ])
  func `Link-local and metadata addresses are refused in every notation`(address: String) throws {
    #expect(try isRefused(address, by: .noLinkLocal))
    #expect(try isRefused(address, by: .publicOnly))
  }

  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "255.255.255.255", "::1", "::", "fc00::1", "fdff::1", "ff02::1", "2001:db8::1", "::ffff:10.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b:1:a00:0:100:808:808", "64:ff9b:1::a00:1", "64:ff9b:1::", "2001:0:1::1", "198.18.0.1",
    "203.0.113.9",
  ])
  func `Addresses that are not public are refused only by the public-only policy`(address: String) throws {
    #expect(try !isRefused(address, by: .noLinkLocal))
    #expect(try isRefused(address, by: .publicOnly))
  }

  @Test(arguments: [
    "1.1.1.1", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b:1::101:101",
  ])
  func `Public addresses are allowed by the public-only policy`(address: String) throws {
    #expect(try !isRefused(address, by: .publicOnly))
  }

  /// The registries of special-purpose addresses, copied from their tables: each range, its neighbors, and if they are
  /// globally reachable. Ranges that embed an IPv4 address have separate tests.
  static let registry: [(range: String, first: String, last: String, below: String?, above: String?, public: Bool)] = [
    ("0.0.0.0/8", "0.0.0.0", "0.255.255.255", nil, "1.0.0.0", false),
    ("10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0", false),
    ("100.64.0.0/10", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0", false),
    ("127.0.0.0/8", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0", false),
    ("169.254.0.0/16", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0", false),
    ("172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0", false),
    ("192.0.0.0/24", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0", false),
    ("192.0.0.0/29", "192.0.0.0", "192.0.0.7", nil, nil, false),
    ("192.0.0.8/32", "192.0.0.8", "192.0.0.8", nil, "192.0.0.9", false),
    ("192.0.0.9/32", "192.0.0.9", "192.0.0.9", nil, "192.0.0.10", true),
    ("192.0.0.10/32", "192.0.0.10", "192.0.0.10", "192.0.0.9", nil, true),
    ("192.0.0.170/31", "192.0.0.170", "192.0.0.171", nil, nil, false),
    ("192.0.2.0/24", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0", false),
    ("192.31.196.0/24", "192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0", true),
    ("192.52.193.0/24", "192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0", true),
    ("192.88.99.0/24", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0", false),
    ("192.168.0.0/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0", false),
    ("192.175.48.0/24", "192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0", true),
    ("198.18.0.0/15", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0", false),
    ("198.51.100.0/24", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0", false),
    ("203.0.113.0/24", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0", false),
    ("224.0.0.0/4", "224.0.0.0", "239.255.255.255", "223.255.255.255", nil, false),
    ("240.0.0.0/4", "240.0.0.0", "255.255.255.254", nil, nil, false),
    ("255.255.255.255/32", "255.255.255.255", "255.255.255.255", nil, nil, false),
    ("::/128", "::", "::", nil, nil, false), ("::1/128", "::1", "::1", nil, nil, false),
    ("100::/64", "100::", "100::ffff:ffff:ffff:ffff", nil, nil, false),
    ("100:0:0:1::/64", "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", nil, nil, false),
    ("2000::/3", "2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil, true),
    ("2000::/3", "3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil, true),
    ("2001::/23", "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::", false),
    ("2001:1::1/128", "2001:1::1", "2001:1::1", nil, "2001:1::2", true),
    ("2001:1::2/128", "2001:1::2", "2001:1::2", "2001:1::1", "2001:1::3", true),
    ("2001:1::3/128", "2001:1::3", "2001:1::3", "2001:1::2", nil, true),
    ("2001:1::4/126", "2001:1::4", "2001:1::7", "2001:1::3", nil, false),
    ("2001:2::/48", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", nil, nil, false),
    ("2001:3::/32", "2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil, true),
    ("2001:4:112::/48", "2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", nil, nil, true),
    ("2001:4:113::/48", "2001:4:113::", "2001:4:113:ffff:ffff:ffff:ffff:ffff", "2001:4:112:ffff::", nil, false),
    ("2001:10::/28", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", nil, "2001:20::", false),
    ("2001:20::/28", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", nil, "2001:30::", true),
    ("2001:30::/28", "2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:2f:ffff::", nil, true),
    ("2001:40::/26", "2001:40::", "2001:7f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:3f:ffff::", nil, false),
    (
      "2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::", false
    ),
    ("2620:4f:8000::/48", "2620:4f:8000::", "2620:4f:8000:ffff::", "2620:4f:7fff::", "2620:4f:8001::", true),
    ("3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::", false),
    ("5f00::/16", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil, false),
    ("fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil, false),
    ("fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil, false),
  ]

  @Test(arguments: registry)
  func `The public-only policy follows the registries of special-purpose addresses at every boundary`(
    row: (range: String, first: String, last: String, below: String?, above: String?, public: Bool)
  ) throws {
    let range = try AddressRange(row.range)
    for address in [row.first, row.last] {
      #expect(range.contains(try #require(IPAddress(address))))
      #expect(try isRefused(address, by: .publicOnly) == !row.public, "\(address)")
    }
    for address in [row.below, row.above].compactMap({ $0 }) {
      #expect(try !range.contains(#require(IPAddress(address))))
      #expect(try !isRefused(address, by: .publicOnly), "\(address)")
    }
  }

  @Test func `The table of special-purpose addresses has each of its ranges in the registry of this test`() throws {
    let known = try Set(Self.registry.map { try AddressRange($0.range) })
    let others = try Set(["fec0::/10", "ff00::/8"].map { try AddressRange($0) })

    #expect(SpecialAddresses.blocks.allSatisfy { known.union(others).contains($0.range) })
    #expect(SpecialAddresses.blocks.count == Set(SpecialAddresses.blocks.map(\.range)).count)
  }

  @Test(arguments: [
    "4000::1", "1fff:ffff::1", "6000::", "8000::1", "a000::1", "c000::1", "e000::1", "f000::1", "f800::1", "fe00::1",
    "fec0::1", "ff02::1", "ff0e::1", "200::1", "400::1", "1000::1", "::2", "::1.1.1.1", "::ffff:0:1.1.1.1",
    "::5efe:1.1.1.1", "64:ff9b:2::1", "64:ff9a::101:101", "64:ff9b:0:1::101:101",
  ])
  func `An IPv6 address is public only if IANA assigns from its range`(address: String) throws {
    #expect(try !isRefused(address, by: .noLinkLocal))
    #expect(try isRefused(address, by: .publicOnly))
  }

  @Test(arguments: [
    ("10.0.0.1", false), ("127.0.0.1", false), ("192.168.0.1", false), ("224.0.0.1", false), ("1.1.1.1", true),
    ("11.0.0.1", true), ("192.0.0.9", true),
  ])
  func `An embedded IPv4 address is public if it is public alone`(address: String, isPublic: Bool) throws {
    let bytes = try #require(IPAddress(address)).bytes.map(Int.init)
    let (high, low) = (bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3])
    let words = [high, low].map { String($0, radix: 16) }
    let inverted = [high, low].map { String($0 ^ 0xFFFF, radix: 16) }

    for text in [
      "::ffff:\(address)", "64:ff9b::\(address)", "64:ff9b:1::\(address)", "2002:\(words[0]):\(words[1])::1",
      "2001:0:\(words[0]):\(words[1])::fefe:fefe", "2001:0:101:101::\(inverted[0]):\(inverted[1])",
      "2606:4700::5efe:\(address)", "2606:4700::200:5efe:\(address)",
    ] {
      #expect(try isRefused(text, by: .publicOnly) == !isPublic, "\(text)")
    }
  }

  @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "::g", "localhost"])
  func `Text that is not an IP address is rejected`(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: ["1.2.3.4", "::1", "2001:db8::8:800:200c:417a"])
  func `The description of an IP address is its canonical text`(text: String) throws {
    #expect(try #require(IPAddress(text)).description == text)
  }
}
