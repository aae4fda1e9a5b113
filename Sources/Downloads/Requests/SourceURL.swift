public import Foundation

/// A URL that can be fetched, in canonical form: scheme and host in lower case, international names in ASCII, no
/// default port, no dot segments, no fragment, and percent-encoded where the URL standard (https://url.spec.whatwg.org)
/// requires it. Whatever is written, a browser would request the same URL.
///
/// libcurl gets the canonical form, so the host that is checked is the host that gets the request.
public struct SourceURL: Hashable, Sendable {
  /// The protocol of a URL.
  public enum Scheme: String, Hashable, Sendable {
    /// HTTP without encryption.
    case http
    /// HTTP over TLS.
    case https
    /// A file on this machine.
    case file
    /// The bytes are in the URL itself.
    case data
    /// An object in a bucket of Amazon S3, or of a server with the same interface.
    case s3
    /// An object in a bucket of Google Cloud Storage.
    case gs

    /// True if no request is needed for the bytes.
    package var isLocal: Bool { self == .file || self == .data }
    /// True for the web: http and https.
    package var isWeb: Bool { self == .http || self == .https }
    /// True for an object in a bucket. See ``BucketAccess``.
    package var isBucket: Bool { self == .s3 || self == .gs }
  }

  /// The protocol of the URL.
  public let scheme: Scheme
  /// The host, with its port unless that is the default of the scheme, and without a final dot. The rule for IP
  /// addresses, robots.txt, limits and delays apply to this value. Empty for files, and the bucket for objects.
  public let host: String
  /// The canonical URL without credentials, for caches, reports and people.
  public let description: String
  /// `user` or `user:password`, percent-encoded; nil if the URL has no credentials.
  public package(set) var credentials: String?
  /// The parts of ``host``, which every transfer needs several times.
  private let parts: HostParts
  /// True if the host name was written with a final dot, which the request keeps: it keeps a resolver from appending
  /// search domains.
  let hasFinalDot: Bool

  /// The bytes in a `data:` URL, for which ``description`` has a digest; nil for other URLs.
  let data: [UInt8]?

  /// The maximum length of a URL in canonical form, in bytes. Servers accept no longer ones by default, and every URL
  /// of a redirect is kept and reported.
  public static let maxLength = 8 << 10

  /// Creates the canonical form of `text`, which may contain spaces and non-ASCII letters.
  ///
  /// - Throws: `bad_url` if `text` is not an absolute URL or longer than ``maxLength``, `blocked_scheme` for schemes
  ///   other than http, https, file, data, s3 and gs.
  public init(_ text: String) throws(FetchFailure) {
    if let data = try DataURL(text) {
      self.init(data)
    } else if text.utf8.count <= Self.maxLength, let canonical = CanonicalURL(text) {
      self.init(canonical, text)
    } else if let object = try BucketURL(text) {
      self.init(object)
    } else {
      try self.init(parsing: text)
    }
  }

  private init(_ url: DataURL) {
    (scheme, host, parts, hasFinalDot, credentials) = (.data, "", HostParts(of: ""), false, nil)
    (description, data) = (url.description, url.bytes)
  }

  private init(_ object: BucketURL) {
    (scheme, host, hasFinalDot, credentials, data) = (object.scheme, object.bucket, false, nil, nil)
    parts = HostParts(of: object.bucket)
    description = object.description
  }

  /// Parses `text`, whether it is canonical or not.
  init(parsing text: String) throws(FetchFailure) {
    try Self.checkLength(of: text, shown: text)
    try self.init(ParsedURL(Array(text.utf8), shown: text), written: text)
  }

  /// - Parameter text: the canonical URL.
  private init(_ canonical: CanonicalURL, _ text: String) {
    scheme = canonical.scheme
    host = canonical.authority
    parts = HostParts(of: canonical.authority)
    hasFinalDot = false
    description = text
    credentials = nil
    data = nil
  }

  /// Returns true if `text` is an http or https URL in canonical form. Costs a fraction of reading the URL, but returns
  /// false for a few canonical ones; see ``CanonicalURL``.
  package static func isCanonical(_ text: String) -> Bool {
    text.utf8.count <= maxLength && CanonicalURL.recognizes(text)
  }

  /// Resolves the reference `text`, an absolute or a relative one, against `base`.
  public init(_ text: String, relativeTo base: SourceURL) throws(FetchFailure) {
    try self.init(Array(text.utf8), relativeTo: base)
  }

  /// Resolves a reference that need not be UTF-8, such as a `Location`.
  package init(_ bytes: [UInt8], relativeTo base: SourceURL) throws(FetchFailure) {
    let shown = String(decoding: bytes.prefix(Self.maxLength + 1), as: UTF8.self)
    try Self.checkLength(of: shown, shown: shown)
    try self.init(ParsedURL(bytes, relativeTo: base, shown: shown), written: shown)
  }

  /// - Parameter written: The text that was read. If it is canonical already, it shares its memory with the
  ///   description: a run may hold thousands of URLs.
  private init(_ read: ParsedURL, written: String) throws(FetchFailure) {
    scheme = read.scheme
    credentials = read.credentials
    host = read.port.map { "\(read.host):\($0)" } ?? read.host
    parts = HostParts(of: host)
    hasFinalDot = read.hasFinalDot
    data = nil
    let text = Self.text(read)
    // A reference may be shorter than the URL that it leads to.
    try Self.checkLength(of: text, shown: written)
    description = text == written ? written : text
  }

  /// Throws if `text` is too long for a URL. Messages quote `shown`.
  static func checkLength(of text: String, shown: String) throws(FetchFailure) {
    guard text.utf8.count > maxLength else { return }
    throw FetchFailure(.badURL, "The URL is longer than \(maxLength) bytes: \(shown.quotedForMessage)")
  }

  private static func text(_ parts: ParsedURL) -> String {
    var text = parts.scheme.rawValue
    text.reserveCapacity(17 + parts.host.utf8.count + parts.target.count)
    text += "://"
    text += parts.host
    if parts.hasFinalDot { text += "." }
    if let port = parts.port { text += ":\(port)" }
    return text + String(decoding: parts.target, as: UTF8.self)
  }

  /// The host without port, final dot, or the brackets of an IPv6 address.
  package var hostName: String { parts.name }

  /// The port to connect to.
  var port: Int { parts.port.map { Int($0) } ?? scheme.defaultPort }

  /// The host name to resolve, with its final dot, which keeps a resolver from appending search domains; nil if no
  /// lookup is needed, as for an IP address or `localhost`.
  var nameToLookUp: String? {
    guard !scheme.isLocal, parts.kind == .name else { return nil }
    return hasFinalDot ? parts.name + "." : parts.name
  }

  /// True if the host is `localhost` or a subdomain of it, which name servers are never asked for (RFC 6761, section
  /// 6.3).
  package var isLoopbackName: Bool { parts.kind == .loopbackName }

  /// The path with its slash, and the query with its question mark, if there is one.
  package var pathAndQuery: Substring {
    let begin = description.utf8.dropFirst(scheme.rawValue.utf8.count + 3)
    return description[(begin.firstIndex(of: UInt8(ascii: "/")) ?? begin.endIndex)...]
  }

  /// The path of a file, with a zero at its end; nil for other URLs, and for a path that contains a zero itself. It
  /// need not be UTF-8.
  package var filePath: [CChar]? {
    guard scheme == .file else { return nil }
    let bytes = Array(description.utf8.dropFirst("file://".utf8.count))[...].percentDecoded
    return bytes.contains(0) ? nil : bytes.map { CChar(bitPattern: $0) } + [0]
  }

  /// The URL with its credentials, as libcurl needs it for the request.
  var requestString: String {
    guard let credentials else { return description }
    return "\(scheme.rawValue)://\(credentials)@" + description.dropFirst(scheme.rawValue.count + 3)
  }
}

extension SourceURL: CustomStringConvertible {}

extension SourceURL {
  /// Compares the canonical form, which includes scheme and host, and the credentials.
  public static func == (a: SourceURL, b: SourceURL) -> Bool {
    a.description == b.description && a.credentials == b.credentials
  }

  /// Hashes the canonical form and the credentials.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(description)
    hasher.combine(credentials)
  }
}

// MARK: Characters

extension UInt8 {
  var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
  var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
  package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

  /// The value of a hexadecimal digit; nil for any other byte.
  var hexDigitValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x41 + 10
    case 0x61...0x66: self - 0x61 + 10
    default: nil
    }
  }
}

extension String {
  /// The text in quotation marks, cut to 200 bytes. A text that may contain a password is left out.
  var quotedForMessage: String {
    // Bytes, because a character has no greatest length.
    utf8.contains(UInt8(ascii: "@"))
      ? "(not shown: it may contain a password)" : "\"\(String(decoding: utf8.prefix(200), as: UTF8.self))\""
  }
}

// MARK: Percent encoding

extension String {
  /// The path, percent-encoded for use in a URL.
  package var percentEncodedPath: String { Array(utf8).percentEncodedPath }
}

extension [UInt8] {
  /// The path, which need not be UTF-8, percent-encoded for use in a URL. Encodes every byte except slashes and
  /// unreserved characters (RFC 3986, section 2.3), so that no part of a name is taken for a scheme, a query or a
  /// fragment.
  package var percentEncodedPath: String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in self {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}

// MARK: Foundation

extension SourceURL {
  /// Creates the canonical form of `url`.
  ///
  /// - Throws: `bad_url` if `url` is relative or has no host, `blocked_scheme` for schemes other than http, https and
  ///   file.
  public init(_ url: URL) throws(FetchFailure) { try self.init(url.absoluteString) }
}

/// The parts of a ``SourceURL/host``, which is in canonical form; see ``canonical(_:)``.
struct HostParts: Sendable {
  /// The ways to find the IP addresses of a host.
  enum Kind {
    /// The host is an IP address.
    case address
    /// The name is `localhost` or a subdomain of it.
    case loopbackName
    /// The name has to be looked up.
    case name
  }

  /// The host without port, or the brackets of an IPv6 address.
  let name: String
  /// The port; nil for the default port of the scheme.
  let port: UInt16?
  /// The way to find the IP addresses.
  let kind: Kind

  /// Splits `host`.
  init(of host: String) {
    let isBracketed = host.utf8.first == UInt8(ascii: "[")
    let text = host.dropFirst(isBracketed ? 1 : 0).utf8
    let end = text.firstIndex(of: UInt8(ascii: isBracketed ? "]" : ":")) ?? text.endIndex
    let written = text[..<end]
    // Most hosts are nothing but a name, which then shares its memory with the host.
    name = written.endIndex == host.endIndex && !isBracketed ? host : String(Substring(written))
    let digits = text[end...].dropFirst(isBracketed ? 2 : 1)
    port = digits.isEmpty ? nil : digits.reduce(0) { $0 &* 10 &+ UInt16($1 & 15) }
    kind = Self.kind(of: name, isBracketed: isBracketed)
  }

  private static func kind(of name: String, isBracketed: Bool) -> Kind {
    guard !isBracketed else { return .address }
    if name == "localhost" || name.hasSuffix(".localhost") { return .loopbackName }
    // An IPv4 address ends with a digit, and an IPv6 address has brackets.
    guard let last = name.utf8.last, last.isASCIIDigit else { return .name }
    return IPAddress.isIPv4(name) ? .address : .name
  }
}

// The canonical form. Whatever reads a host, from the rule for IP addresses to a proxy, gets this one: two readings of
// the same text would be a way around the rule.
extension HostParts {
  /// Returns the canonical form of a host without its port, which is in lower case and ASCII; nil if it cannot be a
  /// host. It has no final dot. An IPv4 address is four decimal numbers, however it was written, and an IPv6 address
  /// is in its shortest form.
  ///
  /// A host whose last label is a number is an IPv4 address or invalid (URL standard, section 3.5): programs differ in
  /// the numbers that they accept, such as `0251.0376.43518` or `0xa9fea9fe`, and one of them may be the next hop.
  static func canonical(_ host: String) -> String? {
    if host.utf8.first == UInt8(ascii: "[") {
      let address = host.utf8.last == UInt8(ascii: "]") ? IPAddress(String(host.dropFirst().dropLast())) : nil
      return address.flatMap { $0.bytes.count == 16 ? "[\($0.groups)]" : nil }
    }
    let name = host.utf8.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard let last = labels.last, isNumber(last) else { return isName(labels) ? String(name) : nil }
    return address(of: labels).map { "\($0)" }
  }

  /// Returns true if the labels have the syntax of a host name (RFC 1123, section 2.1). Underscores are accepted too,
  /// because some hosts use them.
  private static func isName(_ labels: [Substring.UTF8View]) -> Bool {
    labels.allSatisfy { label in
      !label.isEmpty && label.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }
  }

  /// Returns true for digits, even if they are no valid number, such as `08`, and for a number in any notation.
  private static func isNumber(_ label: Substring.UTF8View) -> Bool {
    !label.isEmpty && label.allSatisfy(\.isASCIIDigit) || number(label) != nil
  }

  /// Returns the IPv4 address that the labels stand for, the last of which fills the remaining bytes; nil if they stand
  /// for none.
  private static func address(of labels: [Substring.UTF8View]) -> IPAddress? {
    let numbers = labels.compactMap { number($0) }
    guard (1...4).contains(labels.count), numbers.count == labels.count, let last = numbers.last,
      numbers.dropLast().allSatisfy({ $0 <= 0xFF }), last >> (8 * (5 - numbers.count)) == 0
    else { return nil }
    let lastBytes = (numbers.count - 1..<4).map { UInt8(truncatingIfNeeded: last >> (8 * (3 - $0))) }
    return IPAddress(bytes: numbers.dropLast().map { UInt8($0) } + lastBytes)
  }

  /// Returns the value of a decimal, octal (`0…`) or hexadecimal (`0x…`) number, at most 2^32; nil for any other text.
  private static func number(_ label: Substring.UTF8View) -> UInt64? {
    guard let first = label.first else { return nil }
    var (digits, radix): (Substring.UTF8View, UInt64) = (label, 10)
    if first == UInt8(ascii: "0"), label.count > 1 {
      let isHexadecimal = label.dropFirst().first == UInt8(ascii: "x")
      (digits, radix) = isHexadecimal ? (label.dropFirst(2), 16) : (label.dropFirst(), 8)
    }
    var value: UInt64 = 0
    for digit in digits {
      guard let digit = digit.hexDigitValue, digit < radix else { return nil }
      value = min(value * radix + UInt64(digit), 1 << 32)
    }
    return value
  }
}
