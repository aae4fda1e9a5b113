public import FoundationEssentials

extension CachePolicy {
  /// Why a stored response is fresh or not.
  public struct Explanation: Hashable, Sendable {
    /// What the lifetime follows from.
    public enum Basis: String, Hashable, Sendable {
      /// The directive `max-age`.
      case maxAge = "max-age"
      /// The field `Expires`.
      case expires
      /// A tenth of the time since the last change, because the response says nothing (RFC 9111 section 4.2.2).
      case heuristic
      /// A redirect on the way, which is stale before the response itself.
      case redirect
      /// A missing picture is believed for ten minutes at most.
      case missing
      /// Nothing: the response is stale at once.
      case nothing
    }

    /// What is known at ``CachePolicy/explanation(at:)``'s moment.
    public var state: State
    /// When the response came, or was confirmed last.
    public var respondedAt: Date
    /// Seconds, the response's way here included.
    public var age: Int
    /// Seconds of freshness.
    public var lifetime: Int
    /// What the lifetime follows from.
    public var basis: Basis
    /// When it turns stale; nil for what must be validated on every use.
    public var freshUntil: Date?
    /// Until when it may stand in for a server that fails; nil for never.
    public var staleOnErrorUntil: Date?
    /// The validators and directives as received.
    public var entityTag, lastModified, cacheControl, vary: String?
    /// Whether the clock reads less than when the response came, so that no age can be trusted.
    public var isFromTheFuture: Bool
  }

  /// Why the response is fresh or stale at `now`.
  public func explanation(at now: Date) -> Explanation {
    Explanation(
      state: state(at: now), respondedAt: Self.date(respondedAt), age: age(at: now), lifetime: lifetime, basis: basis,
      freshUntil: freshUntil == 0 ? nil : Self.date(freshUntil),
      staleOnErrorUntil: mayServeStaleOnError ? Self.date(staleOnErrorUntil) : nil,
      entityTag: fields.entityTag, lastModified: fields.lastModified, cacheControl: fields.cacheControl,
      vary: fields.vary, isFromTheFuture: now.wholeSeconds < respondedAt - Self.clockTolerance)
  }

  private var basis: Explanation.Basis {
    if let left = CacheControl(fields.redirectControl).maxAge, lifetime == initialAge + left { return .redirect }
    if status == 404 || status == 410 { return .missing }
    if CacheControl(fields.cacheControl).maxAge != nil { return .maxAge }
    if fields.expires != nil { return .expires }
    return lifetime > 0 ? .heuristic : .nothing
  }

  private static func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
}
