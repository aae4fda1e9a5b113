public import FoundationEssentials
public import HTTPTypes

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
