import FoundationEssentials
import HTTPTypes

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
  func restricted(by other: CacheControl) -> CacheControl {
    var result = self
    result.noStore = noStore || other.noStore
    result.noCache = noCache || other.noCache
    result.mustRevalidate = mustRevalidate || other.mustRevalidate
    return result
  }
}
