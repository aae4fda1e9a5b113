internal import CCurl
internal import Glibc

/// What the name service says about a host.
enum HostResolution: Hashable, Sendable {
  /// The host is here.
  case addresses([IPAddress])
  /// There is no such host.
  case notFound
  /// The name service is in trouble; it may know later.
  case temporary

  /// Asks the system. Blocks for as long as the name service takes.
  @Sendable static func system(_ host: String) -> HostResolution {
    var list: UnsafeMutablePointer<addrinfo>?
    // Without a type of socket, each address would come once for every type.
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else { return HostResolution(status: status) }
    defer { freeaddrinfo(list) }
    return .addresses(sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { $0?.ipAddress })
  }

  /// Why `host` cannot be connected to; nil where it has addresses.
  func failure(of host: String) -> FetchFailure? {
    switch self {
    case .addresses(let addresses) where !addresses.isEmpty: nil
    case .addresses, .temporary: FetchFailure(.dnsTemporary, "The name service did not answer for \(host).")
    case .notFound: FetchFailure(.dnsNotFound, "There is no host \(host).")
    }
  }

  /// The meaning of a status of `getaddrinfo` other than success.
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
