public import FoundationEssentials
public import HTTPTypes

/// The rules of RFC 9111 for one response stored in a private cache. A pure value: every time is passed in.
///
/// One limit is our own: a 404 or 410 is fresh for at most 10 minutes.
public struct CachePolicy: Hashable, Sendable {
  /// The freshness of a stored response.
  public enum State: Hashable, Sendable {
    /// The response may be used without contacting the origin.
    case fresh
    /// The response must be validated or fetched again before use.
    case stale
  }

  /// The lifetime of a 404 or 410 in seconds: the maximum, and the default.
  static let failureLifetime = 600
  /// The longest heuristic lifetime in seconds: 7 days.
  static let longestHeuristicLifetime = 7 * 86400
  /// The seconds after it turns stale during which a response without `stale-if-error` may be served in place of an
  /// error: 1 day.
  static let defaultStaleIfError = 86400
  /// The tolerance in seconds for a clock that was set back. Beyond it, no age can be trusted.
  static let clockTolerance = 300

  let status: Int
  /// The header fields of the response; see ``fields``.
  let packed: PackedFields
  /// Seconds since 1970, like all times inside.
  let requestedAt: Int
  let respondedAt: Int

  let control: CacheControl
  /// The freshness lifetime in seconds (RFC 9111, section 4.2.1).
  let lifetime: Int
  /// The age at ``respondedAt`` in seconds (RFC 9111, section 4.2.3).
  let initialAge: Int
  /// True for `Vary: *`, which no later request matches (RFC 9111, section 4.1).
  let variesByEverything: Bool

  /// The header fields of the response. Each use unpacks all of them.
  var fields: ResponseFields { packed.fields }

  /// Creates the policy of a response to a GET request; nil if it must not be stored because of `no-store` or a status
  /// other than 200, 203, 404 and 410.
  ///
  /// - Parameters:
  ///   - response: The status and header fields of the response. Its body must be complete.
  ///   - redirects: The redirects that led to it. The shortest lifetime of the chain counts; without an explicit
  ///     lifetime, a 302, 303 or 307 has none, and a 301 or 308 has 7 days (RFC 9110, section 15.4; RFC 9111, section
  ///     4.2.2). Default: none.
  ///   - mayBeStored: False for a response that only this process may use. Default true.
  ///   - mayBeShared: False for a response that only this user may use, as if it were `private`. Default true.
  ///   - requestedAt: The time at which the request was sent.
  ///   - respondedAt: The time at which the head of the response arrived.
  public init?(
    response: HTTPResponse, redirects: [HTTPResponse] = [], mayBeStored: Bool = true, mayBeShared: Bool = true,
    requestedAt: Date, respondedAt: Date
  ) {
    let policy = Self.ofAny(
      response: response, redirects: redirects, mayBeStored: mayBeStored, mayBeShared: mayBeShared,
      requestedAt: requestedAt, respondedAt: respondedAt)
    guard policy.isStorable else { return nil }
    self = policy
  }

  /// Returns the policy of any response. One that must not be stored is never fresh and is kept in memory only.
  ///
  /// The parameters are those of ``init(response:redirects:mayBeStored:mayBeShared:requestedAt:respondedAt:)``.
  public static func ofAny(
    response: HTTPResponse, redirects: [HTTPResponse] = [], mayBeStored: Bool = true, mayBeShared: Bool = true,
    requestedAt: Date, respondedAt: Date
  ) -> CachePolicy {
    var fields = ResponseFields(response.headerFields)
    fields.redirectControl = control(
      of: redirects, mayBeStored: mayBeStored, mayBeShared: mayBeShared, requestedAt: requestedAt.wholeSeconds,
      respondedAt: respondedAt.wholeSeconds)
    return CachePolicy(
      status: response.status.code, fields: fields, requestedAt: requestedAt.wholeSeconds,
      respondedAt: respondedAt.wholeSeconds)
  }

  /// Creates the policy of a source that came without HTTP, such as a file or an object of a database.
  ///
  /// - Parameters:
  ///   - lifetime: The time for which the source is fresh, in whole seconds; below zero counts as zero.
  ///   - now: The time from which on it is fresh. Default: now.
  public init(freshFor lifetime: Duration, from now: Date = Date()) {
    let seconds = min(max(lifetime.components.seconds, 0), Int64(Int32.max))
    let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=\(seconds)"])
    self = .ofAny(response: response, requestedAt: now, respondedAt: now)
  }

  /// True if the response may be written to disk: its status is cacheable and it has no `no-store`.
  public var isStorable: Bool { Self.storableStatuses.contains(status) && !control.noStore }

  private static let storableStatuses: Set = [200, 203, 404, 410]

  init(status: Int, fields: ResponseFields, requestedAt: Int, respondedAt: Int) {
    (self.status, packed) = (status, PackedFields(fields))
    (self.requestedAt, self.respondedAt) = (requestedAt, respondedAt)
    let redirects = CacheControl(fields.redirectControl)
    control = CacheControl(fields.cacheControl).restricted(by: redirects)
    let date = fields.date.flatMap { HTTPDate.parse($0, now: respondedAt) }
    let age = Self.initialAge(field: fields.age, date: date, requestedAt: requestedAt, respondedAt: respondedAt)
    let own = Self.lifetime(
      status: status, control: control, fields: fields, date: date ?? respondedAt, now: respondedAt)
    lifetime = min(own, redirects.maxAge.map { age + $0 } ?? own)
    initialAge = age
    variesByEverything = fields.vary?.utf8.contains(UInt8(ascii: "*")) ?? false
  }

  /// Returns ``State/fresh`` if the response may be used at `now` without contacting the origin.
  public func state(at now: Date) -> State {
    isReusable && now.wholeSeconds < freshUntil && now.wholeSeconds >= respondedAt - Self.clockTolerance
      ? .fresh : .stale
  }

  /// Returns the first instant at which the response is stale; nil if it is stale at `now`, or must be validated before
  /// every use.
  public func freshUntil(at now: Date) -> Date? {
    state(at: now) == .fresh ? Date(timeIntervalSince1970: Double(freshUntil)) : nil
  }

  /// Returns true if the final response alone, without the redirects that led to it, may be used at `now` without
  /// contacting its origin. Then it is enough to request the redirects again.
  public func isTargetFresh(at now: Date) -> Bool {
    var target = fields
    target.redirectControl = nil
    return CachePolicy(status: status, fields: target, requestedAt: requestedAt, respondedAt: respondedAt)
      .state(at: now) == .fresh
  }

  /// Returns true if the stale response may be served at `now` because the origin failed: `stale-if-error` (RFC 5861),
  /// or 1 day without it. Always false with `must-revalidate` or `no-cache` (RFC 9111, section 4.2.4).
  public func mayServeStaleOnError(at now: Date) -> Bool {
    mayServeStaleOnError && age(at: now.wholeSeconds) < staleOnErrorLifetime
  }

  /// True if the response may ever be served in place of an error.
  var mayServeStaleOnError: Bool {
    !control.mustRevalidate && !control.noCache && !control.noStore && !variesByEverything
  }

  /// The first second at which the response is too old to be served in place of an error.
  var staleOnErrorUntil: Int { respondedAt + staleOnErrorLifetime - initialAge }

  private var staleOnErrorLifetime: Int { lifetime + (control.staleIfError ?? Self.defaultStaleIfError) }

  /// Returns the age of the response at `now` in seconds, including the time in transit (RFC 9111, section 4.2.3).
  public func age(at now: Date) -> Int { age(at: now.wholeSeconds) }

  private func age(at now: Int) -> Int { initialAge + max(0, now - respondedAt) }

  /// The first second at which the response is stale; 0 if it must be validated before every use.
  var freshUntil: Int { isReusable ? respondedAt + lifetime - initialAge : 0 }

  /// False for `no-cache`, `no-store` and `Vary: *`, which require validation before every use.
  var isReusable: Bool {
    !control.noCache && !control.noStore && !variesByEverything
  }
}

extension Date {
  /// The time in whole seconds since 1970, rounded down.
  var wholeSeconds: Int { Int(timeIntervalSince1970.rounded(.down)) }
}

// MARK: Freshness

// The arithmetic of RFC 9111, section 4.2.
extension CachePolicy {
  /// Returns the freshness lifetime in seconds (RFC 9111, section 4.2.1): the explicit one, or else a heuristic.
  static func lifetime(status: Int, control: CacheControl, fields: ResponseFields, date: Int, now: Int) -> Int {
    let explicit = explicitLifetime(control: control, expires: fields.expires, date: date, now: now)
    return switch status {
    case 404, 410: min(explicit ?? failureLifetime, failureLifetime)
    // Permanent redirects are cacheable by default, temporary ones only with an explicit lifetime (RFC 9110, section
    // 15.4).
    case 301, 308: explicit ?? longestHeuristicLifetime
    case 302, 303, 307: explicit ?? 0
    default: explicit ?? heuristicLifetime(lastModified: fields.lastModified, date: date, now: now)
    }
  }

  /// Returns `max-age`, or else `Expires` minus `Date`. An invalid date such as `0` means "already expired".
  private static func explicitLifetime(control: CacheControl, expires: String?, date: Int, now: Int) -> Int? {
    if let maxAge = control.maxAge { return maxAge }
    guard let expires else { return nil }
    return HTTPDate.parse(expires, now: now).map { max(0, $0 - date) } ?? 0
  }

  /// Returns a tenth of the time since the last change, at most 7 days (RFC 9111, section 4.2.2).
  private static func heuristicLifetime(lastModified: String?, date: Int, now: Int) -> Int {
    guard let lastModified, let changed = HTTPDate.parse(lastModified, now: now) else { return 0 }
    return min(max(0, date - changed) / 10, longestHeuristicLifetime)
  }

  /// Returns the age of a response on arrival in seconds (RFC 9111, section 4.2.3).
  static func initialAge(field: String?, date: Int?, requestedAt: Int, respondedAt: Int) -> Int {
    let apparent = date.map { max(0, respondedAt - $0) } ?? 0
    // Of several values the first counts; an invalid value is ignored (RFC 9111, section 5.1).
    let first = field?.utf8.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: " ") }
    let reported = first.flatMap { CacheControl.deltaSeconds($0) } ?? 0
    return max(apparent, reported + max(0, respondedAt - requestedAt))
  }
}

// MARK: Redirects

// A source reached through redirects is only as fresh as the least fresh response in the chain: its entry records where
// the redirects led, and each of them may lead elsewhere once it is stale.
extension CachePolicy {
  /// Returns the restrictions of the redirects before a response as one `Cache-Control` value: the shortest of their
  /// lifetimes, and every directive that any of them has.
  ///
  /// A redirect itself is never stored. An entry holds what the final response led to, with the URL of that response,
  /// which a later redirect must name for the entry to be used. So `no-store` on a redirect has the effect of
  /// `no-cache`: the redirect is requested before each use (RFC 9111, section 5.2.2.5).
  ///
  /// - Parameters:
  ///   - redirects: The redirects, in any order.
  ///   - mayBeStored: False for a response that only this process may use.
  ///   - mayBeShared: False for a response that only this user may use.
  ///   - requestedAt: The time of the first request, in seconds since 1970.
  ///   - respondedAt: The time of the last response, in seconds since 1970.
  /// - Returns: Nil if nothing is restricted.
  static func control(
    of redirects: [HTTPResponse], mayBeStored: Bool, mayBeShared: Bool, requestedAt: Int, respondedAt: Int
  ) -> String? {
    let hops = redirects.map { redirect in
      CachePolicy(
        status: redirect.status.code, fields: ResponseFields(redirect.headerFields), requestedAt: requestedAt,
        respondedAt: respondedAt)
    }
    var directives: [String] = []
    if !mayBeStored { directives.append("no-store") }
    if !mayBeShared { directives.append("private") }
    if hops.contains(where: { !$0.isReusable }) { directives.append("no-cache") }
    if hops.contains(where: \.control.mustRevalidate) { directives.append("must-revalidate") }
    if let end = hops.map(\.freshUntil).min() { directives.append("max-age=\(max(0, end - respondedAt))") }
    directives += sharedDirectives(of: hops, respondedAt: respondedAt)
    return directives.isEmpty ? nil : directives.joined(separator: ", ")
  }
}

extension CacheControl {
  /// Returns these directives with the prohibitions of `other` added. Lifetimes are unchanged.
  fileprivate func restricted(by other: CacheControl) -> CacheControl {
    var result = self
    result.noStore = noStore || other.noStore
    result.noCache = noCache || other.noCache
    result.mustRevalidate = mustRevalidate || other.mustRevalidate
    return result
  }
}

// MARK: Validation

// Validation, RFC 9111, section 4.3.
extension CachePolicy {
  /// The header fields that make a request conditional: `If-None-Match` and `If-Modified-Since`, for each validator of
  /// the response. Empty if it has none; then only a full response can replace it.
  public var conditionalFields: HTTPFields {
    let fields = fields
    var result = HTTPFields()
    result[.ifNoneMatch] = fields.entityTag
    result[.ifModifiedSince] = fields.lastModified
    return result
  }

  /// Returns true if a 304 confirms this response: a strong entity tag in it must equal the stored one (RFC 9111,
  /// section 4.3.4; a `W/` prefix that a proxy added is ignored). Otherwise the 304 must not be used, and the request
  /// must be repeated without conditions.
  public func isConfirmed(by notModified: HTTPResponse) -> Bool {
    guard let tag = notModified.headerFields[.eTag], !tag.hasPrefix("W/") else { return true }
    let fields = fields
    return tag == fields.entityTag || "W/\(tag)" == fields.entityTag
  }

  /// Returns the policy updated by a 304: its header fields replace the stored ones, and the age starts over (RFC 9111,
  /// sections 3.2 and 4.3.4). After a 304 with `no-store` the result is never fresh. The redirects that led to the 304
  /// replace the earlier ones.
  public func revalidated(
    by notModified: HTTPResponse, redirects: [HTTPResponse] = [], mayBeStored: Bool = true, mayBeShared: Bool = true,
    requestedAt: Date, respondedAt: Date
  ) -> CachePolicy {
    let newer = Self.ofAny(
      response: notModified, redirects: redirects, mayBeStored: mayBeStored, mayBeShared: mayBeShared,
      requestedAt: requestedAt, respondedAt: respondedAt)
    return CachePolicy(
      status: status, fields: fields.updated(by: newer.fields), requestedAt: newer.requestedAt,
      respondedAt: newer.respondedAt)
  }
}
