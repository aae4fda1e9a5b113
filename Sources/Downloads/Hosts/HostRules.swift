public import HTTPTypes

/// Rules for hosts and groups of hosts.
///
/// If several patterns match a host, the most specific one that has a member decides about that member: first a host
/// with its port, then a host, then the pattern with the longest domain, then `*`. Header fields are decided by name.
///
/// ```swift
/// var rules = HostRules()
/// rules[try HostPattern("*")] = HostRule(rate: RequestRate("5/s"))
/// rules[try HostPattern("*.cdn.example")] = HostRule(perHost: 16)
/// print(rules.rule(for: "a.cdn.example"))  // both the rate and the limit
/// ```
public struct HostRules: Hashable, Sendable {
  private var rules: [HostPattern.Scope: HostRule] = [:]

  /// Creates an empty set of rules: every host has the downloader's own settings.
  public init() {}

  /// True if there are no rules.
  public var isEmpty: Bool { rules.isEmpty }

  /// True if a rule has a rate.
  var hasRates: Bool { rules.values.contains { $0.rate != nil } }

  /// The rule of a pattern; nil if it has none. Two texts of one pattern have the same rule.
  public subscript(pattern: HostPattern) -> HostRule? {
    get { rules[pattern.scope] }
    set { rules[pattern.scope] = newValue }
  }

  /// Returns the rule for a host, merged from all patterns that match it. `host` has the form of ``SourceURL/host``.
  public func rule(for host: String) -> HostRule {
    var rule = HostRule()
    guard !rules.isEmpty else { return rule }
    for scope in HostParts(of: host).scopes.reversed() {
      if let other = rules[scope] { rule.merge(other) }
    }
    return rule
  }
}

/// Settings that a host, or a group of hosts, has instead of the downloader's own. Whatever is nil or empty applies
/// unchanged.
public struct HostRule: Hashable, Sendable {
  /// The maximum rate of requests to each host. Default nil: ``Downloader/Configuration/rate``.
  public var rate: RequestRate?
  /// The maximum number of simultaneous downloads per host: 1...65,536; a value outside is clamped. Default nil:
  /// ``Downloader/Configuration/perHost``.
  public var perHost: Int?
  /// Header fields for requests to the host. Each replaces those of the same name in
  /// ``Downloader/Configuration/headerFields`` and ``DownloadRequest/accept``, and an empty value removes them; without
  /// `Accept`, libcurl accepts any media type. Default: none. The header fields of a request replace these.
  public var headerFields: HTTPFields

  /// Creates a rule. Without arguments, it changes nothing.
  public init(rate: RequestRate? = nil, perHost: Int? = nil, headerFields: HTTPFields = [:]) {
    self.rate = rate
    self.perHost = perHost
    self.headerFields = headerFields
  }

  /// Replaces the members that `other`, which is more specific, has. Header fields are replaced by name.
  mutating func merge(_ other: HostRule) {
    rate = other.rate ?? rate
    perHost = other.perHost ?? perHost
    headerFields.replace(with: other.headerFields)
  }

  /// Returns `defaults`, the header fields of every request, with those of this rule.
  package func headerFields(over defaults: HTTPFields) -> HTTPFields {
    guard !headerFields.isEmpty else { return defaults }
    var fields = defaults
    fields.replace(with: headerFields)
    return HTTPFields(fields.filter { field in !(field.value.isEmpty && headerFields.contains(field.name)) })
  }
}

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
  func matches(_ host: String) -> Bool { HostParts(of: host).scopes.contains(scope) }

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
