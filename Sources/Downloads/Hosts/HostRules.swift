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
