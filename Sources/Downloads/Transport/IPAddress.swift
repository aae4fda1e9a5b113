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

  /// The possible destinations of the address: itself, and the IPv4 addresses that are embedded in it. Without itself
  /// if packets always go to the embedded address, or to nowhere.
  var readings: [IPAddress] {
    guard bytes.count == 16, !isUnspecifiedOrLoopback else { return [self] }
    let embedding = Self.embeddings.first { hasPrefix($0.prefix, length: $0.length) }
    let embedded = embedding?.offsets.compactMap { address(at: $0) } ?? []
    let obfuscated = embedding?.hidesClient == true ? [address(at: 12...15, mask: 0xFF)] : []
    let tunneled = isISATAP ? [address(at: 12...15)] : []
    let own = embedding?.isTranslated == true ? [] : [self]
    return own + embedded + (obfuscated + tunneled).compactMap { $0 }
  }

  /// True for an address in 0.0.0.0/8, which is never a destination on a network (RFC 1122, section 3.2.1.3).
  var isThisNetwork: Bool { bytes.count == 4 && bytes[0] == 0 }

  private var isUnspecifiedOrLoopback: Bool { bytes.dropLast().allSatisfy { $0 == 0 } && (bytes.last ?? 0) <= 1 }

  /// True for an interface identifier of ISATAP, at whose end is the IPv4 address of the interface (RFC 5214, section
  /// 6.1). It may follow any prefix.
  private var isISATAP: Bool { bytes[8] & 0xFD == 0 && bytes[9] == 0 && bytes[10] == 0x5E && bytes[11] == 0xFE }

  private func address(at offsets: some Sequence<Int>, mask: UInt8 = 0) -> IPAddress? {
    IPAddress(bytes: offsets.map { bytes[$0] ^ mask })
  }

  /// A prefix of addresses that contain an IPv4 address.
  private struct Embedding {
    let prefix: IPAddress
    let length: Int
    /// The places where the address may be.
    let offsets: [[Int]]
    /// True if a packet goes to the IPv4 address alone.
    var isTranslated = true
    /// True if the last four bytes are an address with all bits inverted.
    var hidesClient = false

    init?(_ prefix: String, _ length: Int, at offsets: [[Int]], isTranslated: Bool = true, hidesClient: Bool = false) {
      guard let prefix = IPAddress(prefix) else { return nil }
      (self.prefix, self.length, self.offsets) = (prefix, length, offsets)
      (self.isTranslated, self.hidesClient) = (isTranslated, hidesClient)
    }
  }

  private static let atEnd = [[12, 13, 14, 15]]

  /// The prefixes with an embedded IPv4 address. The local NAT64 prefix has a length that each network chooses, so the
  /// address may be at several places (RFC 6052, section 2.2).
  private static let embeddings: [Embedding] = [
    // IPv4-mapped (RFC 4291, section 2.5.5.2), NAT64 (RFC 6052), local NAT64 (RFC 8215), 6to4 (RFC 3056).
    Embedding("::ffff:0:0", 96, at: atEnd), Embedding("64:ff9b::", 96, at: atEnd),
    Embedding("64:ff9b:1::", 48, at: atEnd + [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]]),
    Embedding("2002::", 16, at: [[2, 3, 4, 5]]),
    // Teredo: the server, and the client behind its NAT (RFC 4380, section 4).
    Embedding("2001::", 32, at: [[4, 5, 6, 7]], hidesClient: true),
    // IPv4-translated (RFC 2765, section 2.1) and IPv4-compatible (RFC 4291, section 2.5.5.1) are obsolete.
    Embedding("::ffff:0:0:0", 96, at: atEnd, isTranslated: false), Embedding("::", 96, at: atEnd, isTranslated: false),
  ].compactMap { $0 }

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
