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
    let status = getaddrinfo(host, nil, nil, &list)
    guard status == 0 else { return HostResolution(status: status) }
    defer { freeaddrinfo(list) }
    return .addresses(sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { $0?.ipAddress })
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
