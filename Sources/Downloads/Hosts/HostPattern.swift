/// A host, or a group of hosts, to which a ``HostRule`` applies. Hosts are in the form of ``SourceURL/host``.
///
/// | text | applies to |
/// |---|---|
/// | `images.example` | this host, at any port |
/// | `images.example:8443` | this host at this port; 80 and 443 both mean the default port |
/// | `*.cdn.example` | all subdomains of `cdn.example` at any depth and port, but not `cdn.example` itself |
/// | `*` | all hosts |
public struct HostPattern: Hashable, Sendable {
  /// The hosts to which a pattern applies. The names are those of ``HostParts``.
  enum Scope: Hashable, Sendable {
    case all
    case subdomains(of: String)
    case host(String)
    /// A host at a port; nil is the default port.
    case port(UInt16?, host: String)
  }

  let scope: Scope

  /// Parses a pattern. The host may be written in any form that is valid in a URL: in upper case, with international
  /// letters, as an IPv6 address in brackets.
  ///
  /// - Throws: `bad_url` if `text` is not a pattern.
  public init(_ text: String) throws(FetchFailure) {
    if text == "*" {
      scope = .all
    } else if text.hasPrefix("*.") {
      scope = .subdomains(of: try Self.domain(String(text.dropFirst(2))))
    } else {
      let (host, hasPort) = try Self.host(in: text)
      scope = hasPort ? .port(host.unusualPort, host: host.name) : .host(host.name)
    }
  }

  /// Returns the domain in a pattern of subdomains.
  private static func domain(_ text: String) throws(FetchFailure) -> String {
    let (host, hasPort) = try host(in: text)
    guard !hasPort, host.kind != .address else {
      throw FetchFailure(.badURL, "Only a domain may follow \"*.\": \(text.quotedForMessage)")
    }
    return host.name
  }

  /// Returns the host in `text`. `hasPort` is true if the text names a port, even the default one.
  private static func host(in text: String) throws(FetchFailure) -> (host: HostParts, hasPort: Bool) {
    // Each of these characters would end the host, or begin it after a user name.
    if !text.hasSuffix(":"), !text.contains(where: { "/?#@*\\".contains($0) }) {
      // A URL has at most one port, so a text that takes this one has no port yet.
      if let url = try? SourceURL("http://\(text):1/") { return (HostParts(of: url.host), false) }
      if let url = try? SourceURL("http://\(text)/") { return (HostParts(of: url.host), true) }
    }
    throw FetchFailure(.badURL, "The text is not a host or a pattern of hosts: \(text.quotedForMessage)")
  }
}

extension HostPattern: CustomStringConvertible {
  /// The pattern in normal form: in lower case and ASCII, without final dot.
  public var description: String {
    switch scope {
    case .all: "*"
    case .subdomains(let domain): "*.\(domain)"
    case .host(let name): Self.written(name)
    case .port(let port, let host): "\(Self.written(host)):\(port ?? 443)"
    }
  }

  /// Returns a name as it is written in a URL, where an IPv6 address is in brackets.
  private static func written(_ name: String) -> String { name.contains(":") ? "[\(name)]" : name }
}

extension HostPattern {
  /// Returns true if the pattern applies to `host`, which has the form of ``SourceURL/host``.
  package func matches(_ host: String) -> Bool { HostParts(of: host).scopes.contains(scope) }

  /// Returns true if the pattern is `host` itself, and no group of hosts.
  func names(_ host: String) -> Bool {
    switch scope {
    case .all, .subdomains: false
    case .host, .port: matches(host)
    }
  }
}

extension HostParts {
  /// The scope of every pattern that applies to the host, the most specific one first.
  var scopes: [HostPattern.Scope] {
    var scopes = [HostPattern.Scope.port(unusualPort, host: name), .host(name)]
    var rest = name[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      scopes.append(.subdomains(of: String(rest)))
    }
    return scopes + [.all]
  }

  /// The port; nil for the default port. Since the scheme is unknown here, 80 and 443 both count as the default.
  fileprivate var unusualPort: UInt16? { port == 80 || port == 443 ? nil : port }
}
