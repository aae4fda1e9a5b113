internal import Glibc

/// An IPv4 or IPv6 address.
struct IPAddress: Hashable, Sendable {
  /// Four or sixteen bytes, in network order.
  let bytes: [UInt8]

  /// An address from its text form, as `inet_pton` reads it.
  init?(_ text: String) {
    var storage = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &storage) == 1 {
      bytes = Array(storage[..<4])
    } else if inet_pton(AF_INET6, text, &storage) == 1 {
      bytes = storage
    } else {
      return nil
    }
  }

  /// An address from its bytes in network order; nil unless there are four or sixteen.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// The IPv4 address that an IPv6 address stands for, where it is one of the forms that are delivered to it;
  /// otherwise the address itself.
  var unwrapped: IPAddress {
    guard bytes.count == 16 else { return self }
    for (prefix, length, offset) in Self.embeddings where hasPrefix(prefix, length: length) && !isUnspecifiedOrLoopback
    {
      return IPAddress(bytes: bytes[offset..<(offset + 4)]) ?? self
    }
    return self
  }

  private var isUnspecifiedOrLoopback: Bool { bytes.dropLast().allSatisfy { $0 == 0 } && (bytes.last ?? 0) <= 1 }

  /// IPv4-mapped and IPv4-compatible (RFC 4291, 2.5.5), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056).
  private static let embeddings: [(IPAddress, length: Int, offset: Int)] = [
    ("::ffff:0:0", 96, 12), ("::", 96, 12), ("64:ff9b::", 96, 12), ("64:ff9b:1::", 48, 12), ("2002::", 16, 2),
  ].compactMap { text, length, offset in IPAddress(text).map { ($0, length, offset) } }

  /// Whether the first `length` bits are those of `prefix`.
  func hasPrefix(_ prefix: IPAddress, length: Int) -> Bool {
    guard prefix.bytes.count == bytes.count else { return false }
    let whole = length / 8
    guard bytes[..<whole] == prefix.bytes[..<whole] else { return false }
    let rest = length % 8
    return rest == 0 || (bytes[whole] ^ prefix.bytes[whole]) >> (8 - rest) == 0
  }
}

extension IPAddress: CustomStringConvertible {
  var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
