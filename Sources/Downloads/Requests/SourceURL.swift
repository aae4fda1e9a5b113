/// A URL that can be fetched, in canonical form: scheme and host in lower case, international names in ASCII, no
/// default port, no dot segments, no fragment, and percent-encoded exactly where RFC 3986 requires it.
///
/// libcurl parses the URL here and connects with the result later, so the host that is checked is the host that gets
/// the request.
public struct SourceURL: Hashable, Sendable {
  /// The protocol of a URL.
  public enum Scheme: String, Hashable, Sendable {
    /// HTTP without encryption.
    case http
    /// HTTP over TLS.
    case https
    /// A file on this machine.
    case file
  }

  /// The protocol of the URL.
  public let scheme: Scheme
  /// The host, with its port unless that is the default of the scheme, and without a final dot. The rule for IP
  /// addresses, robots.txt, limits and delays apply to this value. Empty for files.
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

  /// The maximum length of a URL in canonical form, in bytes. Servers accept no longer ones by default, and every URL
  /// of a redirect is kept and reported.
  public static let maxLength = 8 << 10

  /// Creates the canonical form of `text`, which may contain spaces and non-ASCII letters.
  ///
  /// - Throws: `bad_url` if `text` is not an absolute URL or longer than ``maxLength``, `blocked_scheme` for schemes
  ///   other than http, https and file.
  public init(_ text: String) throws(FetchFailure) {
    if text.utf8.count <= Self.maxLength, let canonical = CanonicalURL(text) {
      self.init(canonical, text)
    } else {
      try self.init(parsing: text)
    }
  }

  /// Lets libcurl parse `text`, whether it is canonical or not.
  init(parsing text: String) throws(FetchFailure) {
    try self.init(Self.scheme(of: text), CurlURL(Self.encodingIllegalBytes(of: text), shown: text), written: text)
  }

  /// - Parameter text: the canonical URL.
  private init(_ canonical: CanonicalURL, _ text: String) {
    scheme = canonical.scheme
    host = canonical.authority
    parts = HostParts(of: canonical.authority)
    hasFinalDot = false
    description = text
    credentials = nil
  }

  /// Resolves the reference `text`, an absolute or a relative one, against `base` (RFC 3986, section 5.2).
  package init(_ text: String, relativeTo base: SourceURL) throws(FetchFailure) {
    try Self.checkLength(of: text, shown: text)
    if text.prefix(while: { !"/?#".contains($0) }).contains(":") {
      try self.init(text)
    } else {
      let reference = Self.encodingIllegalBytes(of: text)
      try self.init(base.scheme, CurlURL(reference, relativeTo: base.description, shown: text), written: text)
    }
  }

  /// - Parameter written: The text that was read. If it is canonical already, it shares its memory with the
  ///   description: a run may hold thousands of URLs.
  private init(_ scheme: Scheme, _ read: CurlURL, written: String) throws(FetchFailure) {
    self.scheme = scheme
    credentials = read.credentials
    host = read.port.map { "\(read.host):\($0)" } ?? read.host
    parts = HostParts(of: host)
    hasFinalDot = read.hasFinalDot
    let text = Self.text(scheme, read)
    // A reference may be shorter than the URL that it leads to.
    try Self.checkLength(of: text, shown: written)
    description = text == written ? written : text
  }

  /// Throws if `text` is too long for a URL. Messages quote `shown`.
  static func checkLength(of text: String, shown: String) throws(FetchFailure) {
    guard text.utf8.count > maxLength else { return }
    throw FetchFailure(.badURL, "The URL is longer than \(maxLength) bytes: \(shown.quotedForMessage)")
  }

  private static func text(_ scheme: Scheme, _ parts: CurlURL) -> String {
    var text = scheme.rawValue
    text.reserveCapacity(17 + parts.host.utf8.count + parts.path.utf8.count + (parts.query?.utf8.count ?? 0))
    text += "://"
    if scheme == .file { return text + parts.path }
    text += parts.host
    if parts.hasFinalDot { text += "." }
    if let port = parts.port { text += ":\(port)" }
    text += parts.path
    guard let query = parts.query else { return text }
    text += "?"
    return text + query
  }

  /// The host without port, final dot, or the brackets of an IPv6 address.
  package var hostName: String { parts.name }

  /// The port to connect to.
  var port: Int { parts.port.map { Int($0) } ?? scheme.defaultPort }

  /// The host name to resolve, with its final dot, which keeps a resolver from appending search domains; nil if no
  /// lookup is needed, as for an IP address or `localhost`.
  var nameToLookUp: String? {
    guard scheme != .file, parts.kind == .name else { return nil }
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
