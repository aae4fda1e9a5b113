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
    let name = writtenName
    return String(name.hasSuffix(".") ? name.dropLast() : name)
  }

  /// The name with its final dot, which keeps a resolver from completing it.
  private var writtenName: Substring { host.prefix { $0 != ":" } }

  /// Whether the name is written with a final dot.
  var hasFinalDot: Bool { writtenName.hasSuffix(".") }

  /// The port that is connected to.
  var port: Int {
    let rest = host.hasPrefix("[") ? host.drop { $0 != "]" } : host[...]
    return rest.split(separator: ":").dropFirst().first.flatMap { Int($0) } ?? (scheme == .https ? 443 : 80)
  }

  /// The host's name where a name server may have to be asked for its addresses; nil where they are known.
  var nameToLookUp: String? {
    guard scheme != .file, !host.hasPrefix("["), !isLoopbackName, IPAddress(hostName) == nil else { return nil }
    return String(writtenName)
  }

  /// Whether the host is `localhost` or below it: no name server is asked for those (RFC 6761, 6.3).
  var isLoopbackName: Bool {
    let name = hostName
    return name == "localhost" || name.hasSuffix(".localhost")
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
