public import FoundationEssentials

extension CachePolicy {
  /// The reason why a stored response is fresh or stale.
  public struct Explanation: Hashable, Sendable {
    /// The rule that determined the lifetime.
    public enum Basis: String, Hashable, Sendable {
      /// The directive `max-age`.
      case maxAge = "max-age"
      /// The field `Expires`.
      case expires
      /// A tenth of the time since the last change, because the response sets no lifetime (RFC 9111, section 4.2.2).
      case heuristic
      /// A redirect that turns stale before the response itself.
      case redirect
      /// The limit of 10 minutes for a 404 or 410.
      case missing
      /// None: the response was stale on arrival.
      case nothing
    }

    /// Fresh or stale at the time given to ``CachePolicy/explanation(at:)``.
    public var state: State
    /// The time at which the response arrived or was last revalidated.
    public var respondedAt: Date
    /// The age in seconds, including the time in transit.
    public var age: Int
    /// The freshness lifetime in seconds.
    public var lifetime: Int
    /// The rule that determined the lifetime.
    public var basis: Basis
    /// The time at which it turns stale; nil if it must be validated before every use.
    public var freshUntil: Date?
    /// The time until which it may be served if the origin fails; nil if it may not.
    public var staleOnErrorUntil: Date?
    /// The validators and directives as received.
    public var entityTag, lastModified, cacheControl, vary: String?
    /// True if the clock now reads earlier than when the response arrived, so that no age can be trusted.
    public var isFromTheFuture: Bool
  }

  /// The time at which the response arrived or was last revalidated.
  public var responseDate: Date { Self.date(respondedAt) }

  /// Explains why the response is fresh or stale at `now`.
  public func explanation(at now: Date) -> Explanation {
    let fields = fields
    return Explanation(
      state: state(at: now), respondedAt: Self.date(respondedAt), age: age(at: now), lifetime: lifetime, basis: basis,
      freshUntil: freshUntil == 0 ? nil : Self.date(freshUntil),
      staleOnErrorUntil: mayServeStaleOnError ? Self.date(staleOnErrorUntil) : nil,
      entityTag: fields.entityTag, lastModified: fields.lastModified, cacheControl: fields.cacheControl,
      vary: fields.vary, isFromTheFuture: now.wholeSeconds < respondedAt - Self.clockTolerance)
  }

  private var basis: Explanation.Basis {
    let fields = fields
    if let left = CacheControl(fields.redirectControl).maxAge, lifetime == initialAge + left { return .redirect }
    if status == 404 || status == 410 { return .missing }
    if CacheControl(fields.cacheControl).maxAge != nil { return .maxAge }
    if fields.expires != nil { return .expires }
    return lifetime > 0 ? .heuristic : .nothing
  }

  private static func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
}
