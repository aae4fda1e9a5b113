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
