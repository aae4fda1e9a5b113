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

  @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "::g", "localhost"])
  func `Text that is not an IP address is rejected`(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: ["1.2.3.4", "::1", "2001:db8::8:800:200c:417a"])
  func `The description of an IP address is its canonical text`(text: String) throws {
    #expect(try #require(IPAddress(text)).description == text)
  }
}
