import FoundationEssentials
import HTTPTypes

// A source that redirects is as fresh as the least fresh of all its responses: its entry says where the redirects led,
// and each of them may lead elsewhere as soon as it is stale.
extension CachePolicy {
  /// What the redirects before a response allow, as one value of `Cache-Control`: the least of their lifetimes, and the
  /// directives that any of them has. An entry holds where they led, so `no-store` in one of them forbids to store it
  /// (RFC 9111 section 5.2.2.5).
  ///
  /// - Parameters:
  ///   - redirects: The redirects, in any order.
  ///   - mayBeStored: Whether others may use the response at all, as far as it is known from how it came.
  ///   - requestedAt: When the first request was sent, in seconds since 1970.
  ///   - respondedAt: When the last response came, in seconds since 1970.
  /// - Returns: Nil for what restricts nothing.
  static func control(
    of redirects: [HTTPResponse], mayBeStored: Bool, requestedAt: Int, respondedAt: Int
  ) -> String? {
    let hops = redirects.map { redirect in
      CachePolicy(
        status: redirect.status.code, fields: ResponseFields(redirect.headerFields), requestedAt: requestedAt,
        respondedAt: respondedAt)
    }
    var directives: [String] = []
    if !mayBeStored || hops.contains(where: \.control.noStore) { directives.append("no-store") }
    if hops.contains(where: { !$0.isReusable }) { directives.append("no-cache") }
    if hops.contains(where: \.control.mustRevalidate) { directives.append("must-revalidate") }
    if let end = hops.map(\.freshUntil).min() { directives.append("max-age=\(max(0, end - respondedAt))") }
    return directives.isEmpty ? nil : directives.joined(separator: ", ")
  }
}

extension CacheControl {
  /// These directives with the prohibitions of `other` on top. Lifetimes stay.
  func restricted(by other: CacheControl) -> CacheControl {
    var result = self
    result.noStore = noStore || other.noStore
    result.noCache = noCache || other.noCache
    result.mustRevalidate = mustRevalidate || other.mustRevalidate
    return result
  }
}
