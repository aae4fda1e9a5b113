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
  /// The host, with its port unless that is the default of the scheme. The limits and delays per host apply to this
  /// value. Empty for files.
  public let host: String
  /// The canonical URL without credentials, for caches, reports and people.
  public let description: String
  /// `user` or `user:password`, percent-encoded; nil if the URL has no credentials.
  public package(set) var credentials: String?
  /// The parts of ``host``, which every transfer needs several times.
  private let parts: HostParts

  /// Creates the canonical form of `text`, which may contain spaces and non-ASCII letters.
  ///
  /// - Throws: `bad_url` if `text` is not an absolute URL, `blocked_scheme` for schemes other than http, https and
  ///   file.
  public init(_ text: String) throws(FetchFailure) {
    if let canonical = CanonicalURL(text) {
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
    description = text
    credentials = nil
  }

  /// Resolves the reference `text`, an absolute or a relative one, against `base` (RFC 3986, section 5.2).
  package init(_ text: String, relativeTo base: SourceURL) throws(FetchFailure) {
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
    var canonical = read
    if canonical.isInternational {
      // The ASCII form of a name may be a numeric IP address, which only a second pass normalizes.
      let ascii = Self.text(scheme, canonical)
      canonical = try CurlURL(ascii, shown: ascii)
    }
    self.scheme = scheme
    credentials = read.credentials
    host = canonical.authority
    parts = HostParts(of: canonical.authority)
    let text = Self.text(scheme, canonical)
    description = text == written ? written : text
  }

  private static func text(_ scheme: Scheme, _ parts: CurlURL) -> String {
    var text = scheme.rawValue
    text.reserveCapacity(9 + parts.authority.utf8.count + parts.path.utf8.count + (parts.query?.utf8.count ?? 0))
    text += "://"
    if scheme == .file { return text + parts.path }
    text += parts.authority
    text += parts.path
    guard let query = parts.query else { return text }
    text += "?"
    return text + query
  }

  /// The host without port, final dot, or the brackets of an IPv6 address.
  package var hostName: String { parts.name }

  /// True if the host name ends with a dot.
  var hasFinalDot: Bool { parts.hasFinalDot }

  /// The port to connect to.
  var port: Int { parts.port.map { Int($0) } ?? scheme.defaultPort }

  /// The host name to resolve, with its final dot, which keeps a resolver from appending search domains; nil if no
  /// lookup is needed, as for an IP address or `localhost`.
  var nameToLookUp: String? {
    guard scheme != .file, parts.kind == .name else { return nil }
    return parts.hasFinalDot ? parts.name + "." : parts.name
  }

  /// True if the host is `localhost` or a subdomain of it, which name servers are never asked for (RFC 6761, section
  /// 6.3).
  package var isLoopbackName: Bool { parts.kind == .loopbackName }

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
