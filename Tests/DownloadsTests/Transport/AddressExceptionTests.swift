import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(10))) struct AddressExceptionTests {
  /// The exceptions of a policy: ranges of addresses, and patterns of hosts.
  private func policy(ranges: [String] = [], hosts: [String] = []) throws -> AddressPolicy {
    let ranges = try ranges.map { AddressException.addresses(try AddressRange($0)) }
    return .publicOnly(except: ranges + (try hosts.map { .host(try HostPattern($0)) }))
  }

  private func isAllowed(_ address: String, for host: String = "a.test", by policy: AddressPolicy) throws -> Bool {
    policy.refusal(of: try #require(IPAddress(address)), for: host) == nil
  }

  // MARK: Ranges

  @Test(arguments: [
    ("10.20.0.0/16", "10.20.0.0/16"), ("10.20.99.1/16", "10.20.0.0/16"), ("192.168.1.7", "192.168.1.7/32"),
    ("fd12:3456::1/32", "fd12:3456::/32"), ("::1", "::1/128"), ("0.0.0.0/0", "0.0.0.0/0"),
    ("10.255.0.0/9", "10.128.0.0/9"),
  ])
  func `A range has one normal form`(text: String, form: String) throws {
    #expect(try AddressRange(text).description == form)
    #expect(try AddressRange(text) == AddressRange(form))
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/-1", "10.0.0.0/8/8", "a.test", "::/129",
  ])
  func `Text that is not a range is rejected`(text: String) {
    let failure = #expect(throws: FetchFailure.self) { try AddressRange(text) }

    #expect(failure?.code == .badURL)
  }

  // MARK: Exceptions

  @Test(arguments: ["10.20.0.1", "10.20.255.255", "::ffff:10.20.0.1", "64:ff9b::a14:1", "fd12::7", "1.1.1.1"])
  func `An IP address of an exception is allowed, in every notation`(address: String) throws {
    #expect(try isAllowed(address, by: policy(ranges: ["10.20.0.0/16", "fd12::/16"])))
  }

  @Test(arguments: ["10.21.0.1", "127.0.0.1", "fd13::7", "::ffff:10.21.0.1", "64:ff9b:1:a00:0:100:808:808"])
  func `An IP address beyond the exceptions is refused`(address: String) throws {
    #expect(try !isAllowed(address, by: policy(ranges: ["10.20.0.0/16", "fd12::/16"])))
  }

  @Test(arguments: [
    ("a.test", "a.test", true), ("a.test", "a.test:8080", true), ("a.test:8080", "a.test", false),
    ("a.test:8080", "a.test:8080", true), ("*.test", "a.b.test", true), ("*.test", "test", false),
    ("*.b.test", "a.test", false), ("b.test", "a.b.test", false), ("*", "any.test", true),
  ])
  func `A host of an exception may have any private address`(pattern: String, host: String, isExcepted: Bool) throws {
    let policy = try policy(hosts: [pattern])

    for address in ["10.1.2.3", "127.0.0.1", "::1", "fd00::1"] {
      #expect(try isAllowed(address, for: host, by: policy) == isExcepted)
    }
  }

  @Test(arguments: ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "fe80::1", "::ffff:169.254.169.254"])
  func `Link-local addresses and metadata services are allowed by no wide exception`(address: String) throws {
    let wide = try policy(
      ranges: ["0.0.0.0/0", "::/0", "169.0.0.0/8", "fd00::/8", "100.64.0.0/10"], hosts: ["*", "a.test"])

    #expect(try !isAllowed(address, by: wide))
    let everything = AddressPredicate(id: "everything") { _ in true }
    #expect(try !isAllowed(address, by: .decided(by: everything, except: wide.exceptions)))
    #expect(try !isAllowed(address, by: .noLinkLocal(except: wide.exceptions)))
  }

  @Test func `Link-local addresses and metadata services are allowed by an exception that names them`() throws {
    let named = try policy(ranges: ["169.254.7.0/24", "fd00:ec2::254"], hosts: ["100.100.100.200"])

    #expect(try isAllowed("169.254.7.1", by: named))
    #expect(try isAllowed("fd00:ec2::254", by: named))
    #expect(try isAllowed("100.100.100.200", for: "100.100.100.200", by: named))
    #expect(try isAllowed("169.254.7.1", by: .noLinkLocal(except: named.exceptions)))

    #expect(try !isAllowed("169.254.8.1", by: named))
    #expect(try !isAllowed("fd00:ec2::255", by: named))
    #expect(try !isAllowed("100.100.100.200", by: named))
  }

  @Test func `The name of a metadata service is allowed only by an exception for that name`() throws {
    let name = "metadata.google.internal"

    #expect(try policy(hosts: [name]).refusal(ofName: name, for: name) == nil)
    #expect(try policy(hosts: ["*", "*.internal", "*.google.internal"]).refusal(ofName: name, for: name) != nil)
    #expect(AddressPolicy.noLinkLocal.refusal(ofName: name, for: name) != nil)
  }

  @Test func `Policies are equal if their rules and exceptions are`() throws {
    let (first, second) = (AddressPredicate(id: "1") { _ in true }, AddressPredicate(id: "1") { _ in false })

    #expect(AddressPolicy.decided(by: first) == .decided(by: second))
    #expect(AddressPolicy.decided(by: first) != .decided(by: AddressPredicate(id: "2") { _ in true }))
    #expect(try policy(hosts: ["a.test"]) == policy(hosts: ["A.test"]))
    #expect(try policy(hosts: ["a.test"]) != policy(hosts: ["b.test"]))
    #expect(AddressPolicy.publicOnly(except: []) == .publicOnly)
  }
}
