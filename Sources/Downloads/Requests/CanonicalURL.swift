/// The parts of an http or https URL that is written in canonical form, as nearly all are: reading it takes a fifth of
/// the time that the parser needs.
///
/// It recognizes fewer URLs than there are canonical ones. Whatever might be changed or rejected is left to
/// ``ParsedURL``: credentials, percent signs, path segments that begin with a dot, IPv6, and numbers that might be an
/// IP address.
struct CanonicalURL {
  let scheme: SourceURL.Scheme
  /// The host, with its port unless that is the default of the scheme.
  let authority: String

  /// Returns nil if ``ParsedURL`` must read `text`.
  init?(_ text: String) {
    let parts = text.utf8.withContiguousStorageIfAvailable { bytes in
      Self.scheme(of: bytes).flatMap { scheme in
        Self.authority(in: bytes, scheme).map { (scheme, String(decoding: $0, as: UTF8.self)) }
      }
    }
    guard let (scheme, authority) = parts ?? nil else { return nil }
    self.scheme = scheme
    self.authority = authority
  }

  /// Returns true if ``init(_:)`` reads `text`.
  static func recognizes(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { bytes in
      scheme(of: bytes).flatMap { authority(in: bytes, $0) } != nil
    } ?? false
  }

  private typealias Bytes = UnsafeBufferPointer<UInt8>

  private static func scheme(of bytes: Bytes) -> SourceURL.Scheme? {
    if bytes.starts(with: "https://".utf8) { return .https }
    return bytes.starts(with: "http://".utf8) ? .http : nil
  }

  private static func authority(in bytes: Bytes, _ scheme: SourceURL.Scheme) -> Slice<Bytes>? {
    let begin = scheme.rawValue.utf8.count + 3
    guard let slash = bytes[begin...].firstIndex(of: UInt8(ascii: "/")), isPath(bytes[slash...]) else { return nil }
    let authority = bytes[begin..<slash]
    guard let colon = authority.firstIndex(of: UInt8(ascii: ":")) else { return isHost(authority) ? authority : nil }
    guard isHost(authority[..<colon]), let port = port(authority[(colon + 1)...]) else { return nil }
    return port == scheme.defaultPort ? nil : authority
  }

  /// Returns true for a name of letters, digits, hyphens and underscores whose last label begins with a letter, so that
  /// it cannot be an IP address, and for an IP address of four decimal numbers.
  private static func isHost(_ host: Slice<Bytes>) -> Bool {
    var labelBegin = host.startIndex
    for index in host.startIndex..<host.endIndex where host[index] == UInt8(ascii: ".") {
      guard index > labelBegin else { return false }
      labelBegin = index + 1
    }
    guard let first = host[labelBegin...].first else { return false }
    if first.isASCIIDigit { return isAddress(host) }
    return isLetter[Int(first)] && host.allSatisfy { isLetter[Int($0)] || isHostSign[Int($0)] }
  }

  private static func isAddress(_ host: Slice<Bytes>) -> Bool {
    var (rest, count) = (host, 1)
    while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
      guard isByte(rest[..<dot]) else { return false }
      rest = rest[(dot + 1)...]
      count += 1
    }
    return count == 4 && isByte(rest)
  }

  private static func isByte(_ digits: Slice<Bytes>) -> Bool { decimal(digits).map { $0 <= 255 } ?? false }

  private static func port(_ digits: Slice<Bytes>) -> Int? {
    decimal(digits).flatMap { (1...65535).contains($0) ? $0 : nil }
  }

  /// Returns the value of up to five digits without a leading zero.
  private static func decimal(_ digits: Slice<Bytes>) -> Int? {
    guard (1...5).contains(digits.count), digits.allSatisfy(\.isASCIIDigit) else { return nil }
    guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 & 15) }
  }

  /// Returns true for a path, perhaps with a query, in which nothing has to be encoded or removed.
  private static func isPath(_ path: Slice<Bytes>) -> Bool {
    var previous: UInt8 = 0
    for byte in path {
      guard isPathByte[Int(byte)], byte != UInt8(ascii: ".") || previous != UInt8(ascii: "/") else { return false }
      previous = byte
    }
    return previous != UInt8(ascii: "?")
  }

  private static let isLetter = table("abcdefghijklmnopqrstuvwxyz")
  private static let isHostSign = table("0123456789-_.")
  private static let isPathByte = (0...UInt8.max).map { byte in
    byte.isASCIIAlphanumeric || "-._~/?!$&()*+,;=:".utf8.contains(byte)
  }

  private static func table(_ characters: String) -> [Bool] { (0...UInt8.max).map { characters.utf8.contains($0) } }
}

extension SourceURL.Scheme {
  /// The port to connect to if the URL names none.
  var defaultPort: Int { self == .https ? 443 : 80 }
}
