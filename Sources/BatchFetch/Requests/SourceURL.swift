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
