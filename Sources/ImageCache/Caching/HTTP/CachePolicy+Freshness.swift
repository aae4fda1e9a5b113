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
