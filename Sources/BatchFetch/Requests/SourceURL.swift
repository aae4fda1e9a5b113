internal import CCurl

/// An address that can be fetched, in canonical form: scheme and host in lower case, international names in ASCII,
/// no default port, no dot segments, no fragment, and percent-encoded exactly where RFC 3986 asks for it.
///
/// libcurl parses it here and connects with it later, so that the host which was checked is the host which is asked.
public struct SourceURL: Hashable, Sendable {
  /// How the address is reached.
  public enum Scheme: String, Hashable, Sendable {
    /// Hypertext, in the clear.
    case http
    /// Hypertext over TLS.
    case https
    /// A file of this machine.
    case file
  }

  /// How the address is reached.
  public let scheme: Scheme
  /// The host, with its port where that is not the scheme's own: what shares a limit and a pause. Empty for files.
  public let host: String
  /// The canonical address without credentials, for caches, reports and people.
  public let description: String
  /// `user` or `user:password`, percent-encoded; nil where the address holds none.
  public internal(set) var credentials: String?

  /// The canonical form of `text`, which may hold spaces and any letters.
  ///
  /// - Throws: `bad_url` for what is not an absolute address, `blocked_scheme` for any scheme but http, https and file.
  public init(_ text: String) throws(FetchFailure) {
    try self.init(Self.scheme(of: text), CurlURL(Self.encodingIllegalBytes(of: text), shown: text))
  }

  /// What the reference `text` of an answer from `base` means (RFC 3986, 5.2): an address, or a part of one.
  init(_ text: String, relativeTo base: SourceURL) throws(FetchFailure) {
    if text.prefix(while: { !"/?#".contains($0) }).contains(":") {
      try self.init(text)
    } else {
      let reference = Self.encodingIllegalBytes(of: text)
      try self.init(base.scheme, CurlURL(reference, relativeTo: base.description, shown: text))
    }
  }

  private init(_ scheme: Scheme, _ read: CurlURL) throws(FetchFailure) {
    var parts = read
    if parts.isInternational {
      // In ASCII, a name may turn out to be a number that stands for an address: that is read anew.
      let ascii = Self.text(scheme, parts)
      parts = try CurlURL(ascii, shown: ascii)
    }
    self.scheme = scheme
    credentials = read.credentials
    host = parts.authority
    description = Self.text(scheme, parts)
  }

  private static func text(_ scheme: Scheme, _ parts: CurlURL) -> String {
    scheme == .file
      ? "file://\(parts.path)"
      : "\(scheme.rawValue)://\(parts.authority)\(parts.path)\(parts.query.map { "?\($0)" } ?? "")"
  }

  /// The host without its port and final dot, and an IPv6 address without its brackets.
  var hostName: String {
    guard !host.hasPrefix("[") else { return String(host.dropFirst().prefix { $0 != "]" }) }
    let name = host.prefix { $0 != ":" }
    return String(name.hasSuffix(".") ? name.dropLast() : name)
  }

  /// The address as it is asked for: with its credentials.
  var requestString: String {
    guard let credentials else { return description }
    return "\(scheme.rawValue)://\(credentials)@" + description.dropFirst(scheme.rawValue.count + 3)
  }
}

extension SourceURL: CustomStringConvertible {}

extension SourceURL {
  /// Scheme and host are parts of the canonical form.
  public static func == (a: SourceURL, b: SourceURL) -> Bool {
    a.description == b.description && a.credentials == b.credentials
  }

  /// By the canonical form and the credentials.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(description)
    hasher.combine(credentials)
  }
}

extension SourceURL {
  /// Schemes that stand before a plain colon, and would pass for `host:port` otherwise.
  private static let opaqueSchemes: Set<String> = ["data", "javascript", "blob", "about", "mailto", "file", "ftp"]

  /// The scheme, or the reason why there is none to use.
  private static func scheme(of text: String) throws(FetchFailure) -> Scheme {
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), text[..<colon].isSchemeName else {
      throw FetchFailure(.badURL, "Not an absolute address: \(text.quotedForMessage)")
    }
    let name = text[..<colon].lowercased()
    let hasAuthority = bytes[colon...].starts(with: "://".utf8)
    if hasAuthority, let scheme = Scheme(rawValue: name) { return scheme }
    if hasAuthority || opaqueSchemes.contains(name) {
      throw FetchFailure(.blockedScheme, "Addresses of the scheme \"\(name)\" are not fetched.")
    }
    throw FetchFailure(.badURL, "Not an absolute address: \(text.quotedForMessage)")
  }

  /// RFC 3986, 2.2 and 2.3: which bytes may stand in an address as they are.
  private static let isLegal: [Bool] = {
    let legal = Set("-._~:/?#[]@!$&'()*+,;=".utf8)
    return (0...UInt8.max).map { $0.isASCIIAlphanumeric || legal.contains($0) }
  }()

  /// `text` with every byte that may not stand in an address percent-encoded; `%` stays where it encodes something.
  /// The authority is left alone: its letters are libcurl's to turn into ASCII (UTS 46).
  private static func encodingIllegalBytes(of text: String) -> String {
    let bytes = text.utf8
    let end = authority(of: text)?.endIndex ?? bytes.startIndex
    guard !bytes[end...].allSatisfy({ isLegal[Int($0)] }) else { return text }
    let tail = Array(bytes[end...])
    var encoded = Array(bytes[..<end])
    encoded.reserveCapacity(bytes.count + 32)
    for (index, byte) in tail.enumerated() {
      let isEscape = byte == UInt8(ascii: "%") && tail[(index + 1)...].prefix(2).filter { $0.isHexDigit }.count == 2
      if isLegal[Int(byte)] || isEscape {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// What stands between `//` and the path (RFC 3986, 3.2); nil for a reference without it.
  private static func authority(of text: String) -> Substring? {
    let bytes = text.utf8
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes[slash...].starts(with: "//".utf8) else {
      return nil
    }
    let scheme = text[..<slash]
    guard scheme.isEmpty || (scheme.utf8.last == UInt8(ascii: ":") && scheme.dropLast().isSchemeName) else {
      return nil
    }
    let start = bytes.index(slash, offsetBy: 2)
    return text[start..<(bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex)]
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

extension Substring {
  /// RFC 3986, 3.1.
  fileprivate var isSchemeName: Bool {
    guard let first = utf8.first, first.isASCIILetter else { return false }
    return utf8.allSatisfy { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
  }
}

extension UInt8 {
  fileprivate var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
  var isASCIIAlphanumeric: Bool { isASCIILetter || (0x30...0x39).contains(self) }
  fileprivate var isHexDigit: Bool {
    (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
  }
}

extension String {
  /// Quoted, and cut where it is too long to be read in a message. Whatever may hold a password is not shown.
  var quotedForMessage: String {
    contains("@") ? "(not shown: it may hold a password)" : "\"\(prefix(200))\""
  }
}
