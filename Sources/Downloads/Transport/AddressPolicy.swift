/// The rule for the IP addresses to which connections are allowed. It is checked against the address itself when the
/// socket is opened, and on every hop, so neither a redirect nor a name that resolves differently the next time can
/// bypass it.
///
/// Link-local addresses and the metadata services of cloud providers, which hand out credentials, are refused by every
/// policy, unless an exception names them; see ``AddressException``.
///
/// ```swift
/// let store = AddressException.host(try HostPattern("*.store.internal"))
/// let cluster = AddressException.addresses(try AddressRange("10.20.0.0/16"))
/// limits.addresses = .publicOnly(except: [store, cluster])
/// ```
public struct AddressPolicy: Hashable, Sendable {
  /// The rule for addresses that no exception names.
  enum Rule: Hashable, Sendable {
    case noLinkLocal
    case publicOnly
    case predicate(AddressPredicate)
  }

  let rule: Rule
  let exceptions: [AddressException]

  /// All addresses except link-local ones and metadata services.
  public static let noLinkLocal = AddressPolicy(.noLinkLocal, except: [])
  /// Only addresses on the public Internet.
  public static let publicOnly = AddressPolicy(.publicOnly, except: [])

  /// Returns the policy ``noLinkLocal`` with exceptions: link-local addresses or metadata services that are allowed.
  public static func noLinkLocal(except exceptions: [AddressException]) -> AddressPolicy {
    AddressPolicy(.noLinkLocal, except: exceptions)
  }

  /// Returns the policy ``publicOnly`` with exceptions: hosts and addresses that are allowed although they are not on
  /// the public Internet.
  public static func publicOnly(except exceptions: [AddressException]) -> AddressPolicy {
    AddressPolicy(.publicOnly, except: exceptions)
  }

  /// Returns a policy that calls `predicate` on every hop, except for the link-local addresses and metadata services
  /// that every policy refuses, and for what an exception allows.
  ///
  /// - Parameters:
  ///   - predicate: decides if a connection is allowed.
  ///   - exceptions: hosts and addresses that are always allowed. Default: none.
  public static func decided(
    by predicate: AddressPredicate, except exceptions: [AddressException] = []
  ) -> AddressPolicy {
    AddressPolicy(.predicate(predicate), except: exceptions)
  }

  private init(_ rule: Rule, except exceptions: [AddressException]) {
    self.rule = rule
    self.exceptions = exceptions
  }

  /// True if the host alone does not decide: its name must be resolved before a proxy gets the request.
  package var needsAddresses: Bool { rule != .noLinkLocal }

  /// True if the address alone decides, whatever the host is.
  var dependsOnAddressOnly: Bool {
    guard exceptions.isEmpty else { return false }
    return if case .predicate = rule { false } else { true }
  }
}
