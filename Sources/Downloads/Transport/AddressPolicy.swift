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

// MARK: Refusal

extension AddressPolicy {
  /// Returns the reason why connections to `address` are refused; nil if they are allowed.
  ///
  /// - Parameter host: The host of the URL, in the form of ``SourceURL/host``.
  func refusal(of address: IPAddress, for host: String) -> String? {
    let readings = address.readings
    for reading in readings {
      guard let refused = SpecialAddresses.alwaysRefused.first(where: { $0.range.contains(reading) }) else { continue }
      if !exceptions.contains(where: { $0.names(reading, in: refused.range, for: host) }) { return refused.reason }
    }
    switch rule {
    case .noLinkLocal: return nil
    case .publicOnly:
      return SpecialAddresses.reasonNotPublic(readings) { reading in allows(reading, address, for: host) }
    case .predicate(let predicate):
      if readings.allSatisfy({ allows($0, address, for: host) }) { return nil }
      return predicate.refusal(of: address, for: host)
    }
  }

  /// Returns the reason why requests to the host `name` are refused; nil if its addresses decide. Behind a proxy, this
  /// machine does not see the address.
  ///
  /// - Parameter host: The host of the URL, in the form of ``SourceURL/host``.
  func refusal(ofName name: String, for host: String) -> String? {
    guard SpecialAddresses.metadataNames.contains(name.lowercased()) else { return nil }
    return exceptions.contains { $0.names(host) } ? nil : "a metadata service"
  }

  /// Returns the reason why requests to a host are refused whose name only the proxy can resolve; nil if they are
  /// allowed.
  func refusal(ofUnresolved host: String) -> String? {
    guard case .predicate(let predicate) = rule, !exceptions.contains(where: { $0.matches(host) }) else { return nil }
    return predicate.refusal(of: nil, for: host)
  }

  private func allows(_ reading: IPAddress, _ address: IPAddress, for host: String) -> Bool {
    exceptions.contains { $0.allows(reading, host: host) || $0.allows(address, host: host) }
  }
}

// MARK: Cache text

extension AddressPolicy {
  /// Stands for the policy in the key of a cache entry.
  package var cacheText: String {
    let name =
      switch rule {
      case .noLinkLocal: "noLinkLocal"
      case .publicOnly: "publicOnly"
      case .predicate(let predicate): "predicate \(predicate.id)"
      }
    let names = exceptions.map { exception in
      switch exception {
      case .host(let pattern): "host \(pattern)"
      case .addresses(let range): "range \(range)"
      }
    }
    return ([name] + names).joined(separator: ", ")
  }
}

/// Hosts or addresses that an ``AddressPolicy`` allows although its rule refuses them.
///
/// Link-local addresses and metadata services are allowed only by an exception that names them, so that a wide one, or
/// a host whose name resolves to them, does not open them by chance.
public enum AddressException: Hashable, Sendable {
  /// Any address of these hosts, but no link-local address or metadata service, unless the pattern is that very
  /// address. A pattern of all hosts (`*`) allows all private networks.
  case host(HostPattern)
  /// These addresses, whatever the host is. A range within a link-local network, such as `169.254.7.0/24`, or of the
  /// address of a metadata service, names them.
  case addresses(AddressRange)

  /// Returns true if the exception allows connections to `address`, an ordinary one.
  func allows(_ address: IPAddress, host: String) -> Bool {
    switch self {
    case .host(let pattern): pattern.matches(host)
    case .addresses(let range): range.contains(address)
    }
  }

  /// Returns true if the exception names `address`, which is in a range that is always refused.
  func names(_ address: IPAddress, in refused: AddressRange, for host: String) -> Bool {
    switch self {
    case .host(let pattern): pattern.names(host) && IPAddress(HostParts(of: host).name) == address
    case .addresses(let range): range.contains(address) && refused.contains(range)
    }
  }

  /// Returns true if the exception is for this very host.
  func names(_ host: String) -> Bool {
    if case .host(let pattern) = self { pattern.names(host) } else { false }
  }

  /// Returns true if the exception is for this host, or a group of hosts that it belongs to.
  func matches(_ host: String) -> Bool {
    if case .host(let pattern) = self { pattern.matches(host) } else { false }
  }
}

/// A decision of the program about connections, for ``AddressPolicy/decided(by:except:)``.
///
/// ```swift
/// let partners: Set = ["images.partner.internal", "cdn.partner.internal"]
/// let predicate = AddressPredicate(id: "partners") { connection in
///   connection.isPublic || partners.contains(connection.host)
/// }
/// limits.addresses = .decided(by: predicate)
/// ```
///
/// It runs on the thread that serves all transfers, so it must be fast and never block. It is called at least once for
/// each request to a server, redirects included, and also for each IP address that is tried.
public struct AddressPredicate: Hashable, Sendable {
  /// A connection that a transfer needs.
  public struct Connection: Hashable, Sendable {
    /// The host, in the form of ``SourceURL/host``: with its port, unless that is the default.
    public let host: String
    /// The IP address; nil behind a proxy, for a name that this machine cannot resolve.
    public let address: String?
    /// True if the address is on the public Internet. False if it is unknown.
    public let isPublic: Bool
  }

  /// The identity: two predicates with the same one are equal, and their requests share downloads.
  public let id: String
  private let allows: @Sendable (Connection) -> Bool

  /// Creates a predicate.
  ///
  /// - Parameters:
  ///   - id: the identity. It must differ for predicates that decide differently. Failures with `blocked_address` show
  ///     it.
  ///   - allows: returns true if the connection is allowed.
  public init(id: String, allows: @escaping @Sendable (Connection) -> Bool) {
    self.id = id
    self.allows = allows
  }

  /// Compares the identities.
  public static func == (a: AddressPredicate, b: AddressPredicate) -> Bool { a.id == b.id }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// Returns the reason why connections to `address` are refused; nil if they are allowed.
  func refusal(of address: IPAddress?, for host: String) -> String? {
    let connection = Connection(
      host: host, address: address.map { "\($0)" }, isPublic: address.map(\.isPublic) ?? false)
    return allows(connection) ? nil : "refused by the rule \(id.quotedForMessage)"
  }
}
