public import FoundationEssentials

// The rules of RFC 9111 for a cache that several users share. They differ from those of a private cache in three
// directives: `private`, `s-maxage` and `proxy-revalidate`.
extension CachePolicy {
  /// True if a cache that several users share may store the response (RFC 9111, section 3), and can ever serve it:
  /// it has status 200, neither it nor a redirect that led to it is `private` or `no-store`, and it is fresh for some
  /// time or has a validator.
  ///
  /// The caller must check that the request had no credentials, in whatever form.
  public var isShareable: Bool {
    guard isStorable, status == 200 || status == 203, !variesByEverything else { return false }
    let fields = fields
    let controls = [fields.cacheControl, fields.redirectControl].map { SharedCacheControl($0) }
    guard !controls.contains(where: \.isPrivate) else { return false }
    return sharedFreshUntil > respondedAt || fields.entityTag != nil || fields.lastModified != nil
  }

  /// True if the validators can be sent. See ``ResponseFields/hasSendableValidators``.
  var hasSendableValidators: Bool { fields.hasSendableValidators }

  /// Returns ``State/fresh`` if a shared cache may serve the response at `now` without contacting the origin.
  public func sharedState(at now: Date) -> State {
    now.wholeSeconds < sharedFreshUntil && now.wholeSeconds >= respondedAt - Self.clockTolerance ? .fresh : .stale
  }

  /// The policy of a response that a shared cache held when it was stale. With `s-maxage` or `proxy-revalidate`, that
  /// cache must not serve it, whatever fails, before the origin has confirmed it (RFC 9111, sections 5.2.2.8 and
  /// 5.2.2.10); a 304 lifts this restriction.
  public var fromSharedCache: CachePolicy {
    var fields = fields
    guard SharedCacheControl(fields.cacheControl).mustRevalidate, !control.mustRevalidate else { return self }
    fields.redirectControl = [fields.redirectControl, "must-revalidate"].compactMap { $0 }.joined(separator: ", ")
    return CachePolicy(status: status, fields: fields, requestedAt: requestedAt, respondedAt: respondedAt)
  }

  /// The first second at which a shared cache must validate the response; 0 if it must before every use.
  var sharedFreshUntil: Int {
    guard isReusable else { return 0 }
    let fields = fields
    let redirects = SharedCacheControl(fields.redirectControl)
    let rest = redirects.maxAge ?? CacheControl(fields.redirectControl).maxAge
    let own = sharedLifetime(fields)
    return respondedAt + min(own, rest.map { initialAge + $0 } ?? own) - initialAge
  }

  /// The lifetime of the final response alone: `s-maxage`, or else that of a private cache (RFC 9111, section 4.2.1).
  private func sharedLifetime(_ fields: ResponseFields) -> Int {
    if let maxAge = SharedCacheControl(fields.cacheControl).maxAge { return maxAge }
    let date = fields.date.flatMap { HTTPDate.parse($0, now: respondedAt) } ?? respondedAt
    return Self.lifetime(
      status: status, control: CacheControl(fields.cacheControl), fields: fields, date: date, now: respondedAt)
  }

  /// Returns the restrictions that redirects add to those of a private cache.
  static func sharedDirectives(of hops: [CachePolicy], respondedAt: Int) -> [String] {
    let controls = hops.map { SharedCacheControl($0.fields.cacheControl) }
    var directives: [String] = []
    if hops.contains(where: \.control.noStore) || controls.contains(where: \.isPrivate) {
      directives.append("private")
    }
    if controls.contains(where: { $0.maxAge != nil }), let end = hops.map(\.sharedFreshUntil).min() {
      directives.append("s-maxage=\(max(0, end - respondedAt))")
    }
    return directives
  }
}

/// The directives of a `Cache-Control` field that apply only to a cache that several users share (RFC 9111, section
/// 5.2.2).
private struct SharedCacheControl: Hashable, Sendable {
  /// `private`: the response is for one user. A list of field names narrows it; ignoring the list is allowed and safe.
  private(set) var isPrivate = false
  /// `s-maxage` in seconds; 0 if its value is not a number.
  private(set) var maxAge: Int?
  /// `proxy-revalidate` or `s-maxage`: once stale, the response must not be used without validation.
  private(set) var mustRevalidate = false

  /// Parses the value of a field.
  init(_ value: String?) {
    CacheControl.forEachDirective(of: value) { name, argument in
      switch name {
      case "private": isPrivate = true
      case "proxy-revalidate": mustRevalidate = true
      case "s-maxage":
        maxAge = maxAge ?? CacheControl.deltaSeconds(argument) ?? 0
        mustRevalidate = true
      default: break
      }
    }
  }
}

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
