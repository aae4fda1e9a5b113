internal import Glibc

/// An IPv4 or IPv6 address.
package struct IPAddress: Hashable, Sendable {
  /// The address as four or sixteen bytes in network order.
  let bytes: [UInt8]

  /// Parses the text form of an address with `inet_pton`; nil if it is not one.
  package init?(_ text: String) {
    var storage = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &storage) == 1 {
      bytes = Array(storage[..<4])
    } else if inet_pton(AF_INET6, text, &storage) == 1 {
      bytes = storage
    } else {
      return nil
    }
  }

  /// Returns true if `text` is an IPv4 address.
  static func isIPv4(_ text: String) -> Bool {
    var address: UInt32 = 0
    return text.withCString { inet_pton(AF_INET, $0, &address) } == 1
  }

  /// Creates an address from its bytes in network order; nil unless there are four or sixteen.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// The addresses of `localhost`, in connection order.
  static let loopback = [IPAddress("::1"), IPAddress("127.0.0.1")].compactMap { $0 }

  /// The possible destinations of the address: itself, or the IPv4 addresses that may be embedded in it, most likely
  /// first.
  var readings: [IPAddress] {
    guard bytes.count == 16, !isUnspecifiedOrLoopback else { return [self] }
    guard let embedding = Self.embeddings.first(where: { hasPrefix($0.prefix, length: $0.length) }) else {
      return [self]
    }
    return embedding.offsets.compactMap { offsets in IPAddress(bytes: offsets.map { bytes[$0] }) }
  }

  /// True for an address in 0.0.0.0/8, which is never a destination on a network (RFC 1122, section 3.2.1.3).
  var isThisNetwork: Bool { bytes.count == 4 && bytes[0] == 0 }

  private var isUnspecifiedOrLoopback: Bool { bytes.dropLast().allSatisfy { $0 == 0 } && (bytes.last ?? 0) <= 1 }

  private typealias Embedding = (prefix: IPAddress, length: Int, offsets: [[Int]])

  /// Prefixes with an embedded IPv4 address: IPv4-mapped and IPv4-compatible (RFC 4291, section 2.5.5), NAT64 (RFC
  /// 6052, section 2.2), 6to4 (RFC 3056). The local NAT64 prefix (RFC 8215) has a length that each network chooses, so
  /// the IPv4 address may be at several offsets.
  private static let embeddings: [Embedding] = [
    ("::ffff:0:0", 96, [[12, 13, 14, 15]]), ("::", 96, [[12, 13, 14, 15]]), ("64:ff9b::", 96, [[12, 13, 14, 15]]),
    ("64:ff9b:1::", 48, [[12, 13, 14, 15], [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]]),
    ("2002::", 16, [[2, 3, 4, 5]]),
  ].compactMap { text, length, offsets in IPAddress(text).map { ($0, length, offsets) } }

  /// Returns true if the first `length` bits equal those of `prefix`.
  func hasPrefix(_ prefix: IPAddress, length: Int) -> Bool {
    guard prefix.bytes.count == bytes.count else { return false }
    let whole = length / 8
    guard bytes[..<whole] == prefix.bytes[..<whole] else { return false }
    let rest = length % 8
    return rest == 0 || (bytes[whole] ^ prefix.bytes[whole]) >> (8 - rest) == 0
  }
}

extension IPAddress: CustomStringConvertible {
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension IPAddress {
  /// True if the address is on the public Internet.
  package var isPublic: Bool { AddressPolicy.publicOnly.refusal(of: self, for: description) == nil }
}
