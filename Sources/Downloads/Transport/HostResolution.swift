internal import CCurl
internal import Glibc

/// The result of a name lookup.
enum HostResolution: Hashable, Sendable {
  /// The IP addresses of the host.
  case addresses([IPAddress])
  /// The host does not exist.
  case notFound
  /// The name service failed, and may succeed later.
  case temporary

  /// Resolves `host` with the system's resolver. Blocks until the name servers respond or time out.
  @Sendable static func system(_ host: String) -> HostResolution {
    var list: UnsafeMutablePointer<addrinfo>?
    // Without a socket type, the list would contain each address once per type.
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else { return HostResolution(status: status) }
    defer { freeaddrinfo(list) }
    return .addresses(sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { $0?.ipAddress })
  }

  /// Returns the failure for `host`; nil if it has addresses.
  func failure(of host: String) -> FetchFailure? {
    switch self {
    case .addresses(let addresses) where !addresses.isEmpty: nil
    case .addresses, .temporary: FetchFailure(.dnsTemporary, "The name lookup for \(host) failed temporarily.")
    case .notFound: FetchFailure(.dnsNotFound, "The host \(host) does not exist.")
    }
  }

  /// Creates the result for an error status of `getaddrinfo`.
  init(status: Int32) {
    switch status {
    case EAI_AGAIN, EAI_MEMORY, EAI_SYSTEM: self = .temporary
    default: self = .notFound
    }
  }
}

extension UnsafeMutablePointer<addrinfo> {
  fileprivate var ipAddress: IPAddress? {
    guard let address = pointee.ai_addr else { return nil }
    let raw = UnsafeRawBufferPointer(start: address, count: Int(pointee.ai_addrlen))
    return switch pointee.ai_family {
    case AF_INET: IPAddress(bytes: raw[4..<8])
    case AF_INET6: IPAddress(bytes: raw[8..<24])
    default: nil
    }
  }
}
