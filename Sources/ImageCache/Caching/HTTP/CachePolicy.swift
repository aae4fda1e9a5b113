public import FoundationEssentials
public import HTTPTypes

/// What RFC 9111 lets a private cache do with one stored response: a pure value, all times given from outside.
///
/// A rule with a limit of our own: a missing picture (404, 410) is believed for 10 minutes at most.
public struct CachePolicy: Hashable, Sendable {
  /// Whether a stored response may be used as it is.
  public enum State: Hashable, Sendable {
    /// It may be used without asking the origin.
    case fresh
    /// It must be validated or fetched again first.
    case stale
  }

  /// Seconds that a 404 or 410 is believed: at most, and when it says nothing itself.
  static let failureLifetime = 600
  /// The most seconds a response is fresh that says nothing of it: 7 days.
  static let longestHeuristicLifetime = 7 * 86400
  /// Seconds past freshness that a response may stand in for an error when it says nothing of it: 1 day.
  static let defaultStaleIfError = 86400
  /// A clock that reads this many seconds less than when the response came was moved back: no age can be trusted.
  static let clockTolerance = 300

  let status: Int
  let fields: ResponseFields
  /// Whole seconds since 1970, as are all times inside.
  let requestedAt: Int
  let respondedAt: Int

  let control: CacheControl
  /// RFC 9111 section 4.2.1, in seconds.
  let lifetime: Int
  /// The age at ``respondedAt``, RFC 9111 section 4.2.3, in seconds.
  let initialAge: Int

  /// The policy of a response to a GET request; nil when it must not be stored: `no-store`, or a status other than
  /// 200, 203, 404 and 410.
  ///
  /// - Parameters:
  ///   - response: The response's status and header fields. Its body must have arrived completely.
  ///   - redirects: The redirects that led to it. The least of all lifetimes counts; a 302, 303 or 307 that says nothing
  ///     has none, a 301 or 308 has 7 days (RFC 9110 section 15.4, RFC 9111 section 4.2.2). Default: none.
  ///   - mayBeStored: False for a response that only this process may use. Default true.
  ///   - requestedAt: When the request was sent.
  ///   - respondedAt: When the response's head arrived.
  public init?(
    response: HTTPResponse, redirects: [HTTPResponse] = [], mayBeStored: Bool = true, requestedAt: Date,
    respondedAt: Date
  ) {
    let policy = Self.ofAny(
      response: response, redirects: redirects, mayBeStored: mayBeStored, requestedAt: requestedAt,
      respondedAt: respondedAt)
    guard policy.isStorable else { return nil }
    self = policy
  }

  /// The policy of a response whatever it says: one that must not be stored is never fresh, and is kept in memory only.
  /// The parameters are those of ``init(response:redirects:mayBeStored:requestedAt:respondedAt:)``.
  public static func ofAny(
    response: HTTPResponse, redirects: [HTTPResponse] = [], mayBeStored: Bool = true, requestedAt: Date,
    respondedAt: Date
  ) -> CachePolicy {
    var fields = ResponseFields(response.headerFields)
    fields.redirectControl = control(
      of: redirects, mayBeStored: mayBeStored, requestedAt: requestedAt.wholeSeconds,
      respondedAt: respondedAt.wholeSeconds)
    return CachePolicy(
      status: response.status.code, fields: fields, requestedAt: requestedAt.wholeSeconds,
      respondedAt: respondedAt.wholeSeconds)
  }

  /// Whether the response may be put on disk: neither `no-store` nor a status that no cache keeps.
  public var isStorable: Bool { Self.storableStatuses.contains(status) && !control.noStore }

  private static let storableStatuses: Set = [200, 203, 404, 410]

  init(status: Int, fields: ResponseFields, requestedAt: Int, respondedAt: Int) {
    (self.status, self.fields) = (status, fields)
    (self.requestedAt, self.respondedAt) = (requestedAt, respondedAt)
    let redirects = CacheControl(fields.redirectControl)
    control = CacheControl(fields.cacheControl).restricted(by: redirects)
    let date = fields.date.flatMap { HTTPDate.parse($0, now: respondedAt) }
    let age = Self.initialAge(field: fields.age, date: date, requestedAt: requestedAt, respondedAt: respondedAt)
    let own = Self.lifetime(
      status: status, control: control, fields: fields, date: date ?? respondedAt, now: respondedAt)
    lifetime = min(own, redirects.maxAge.map { age + $0 } ?? own)
    initialAge = age
  }

  /// Whether the response may be used at `now` without asking the origin.
  public func state(at now: Date) -> State {
    isReusable && now.wholeSeconds < freshUntil && now.wholeSeconds >= respondedAt - Self.clockTolerance
      ? .fresh : .stale
  }

  /// Whether the stale response may be used at `now` because the origin failed: `stale-if-error` (RFC 5861), 1 day
  /// where the response says nothing. Never against `must-revalidate` or `no-cache` (RFC 9111 section 4.2.4).
  public func mayServeStaleOnError(at now: Date) -> Bool {
    mayServeStaleOnError && age(at: now.wholeSeconds) < staleOnErrorLifetime
  }

  /// Whether the response may stand in for an error at all.
  var mayServeStaleOnError: Bool {
    !control.mustRevalidate && !control.noCache && !control.noStore && !variesByEverything
  }

  /// The first second at which the response is too old to stand in for an error.
  var staleOnErrorUntil: Int { respondedAt + staleOnErrorLifetime - initialAge }

  private var staleOnErrorLifetime: Int { lifetime + (control.staleIfError ?? Self.defaultStaleIfError) }

  /// How old the response is at `now`, in seconds, its way here included (RFC 9111 section 4.2.3).
  public func age(at now: Date) -> Int { age(at: now.wholeSeconds) }

  private func age(at now: Int) -> Int { initialAge + max(0, now - respondedAt) }

  /// The first second at which the response is stale; 0 when it never may be used without validation.
  var freshUntil: Int { isReusable ? respondedAt + lifetime - initialAge : 0 }

  /// `no-cache` and `Vary: *` ask for validation on every use.
  var isReusable: Bool {
    !control.noCache && !control.noStore && !variesByEverything
  }

  /// No request matches such a response (RFC 9111, section 4.1).
  private var variesByEverything: Bool { fields.vary?.utf8.contains(UInt8(ascii: "*")) ?? false }
}

extension Date {
  /// Seconds since 1970, rounded down.
  var wholeSeconds: Int { Int(timeIntervalSince1970.rounded(.down)) }
}
