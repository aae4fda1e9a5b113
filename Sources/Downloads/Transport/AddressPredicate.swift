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
