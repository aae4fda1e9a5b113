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
