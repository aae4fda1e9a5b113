public import FoundationEssentials
public import HTTPTypes

// RFC 9111 section 4.3.
extension CachePolicy {
  /// The fields that make a request conditional: `If-None-Match` and `If-Modified-Since`, as far as the response gave
  /// a validator. Empty when it gave none; then only a whole new response can replace it.
  public var conditionalFields: HTTPFields {
    var result = HTTPFields()
    result[.ifNoneMatch] = fields.entityTag
    result[.ifModifiedSince] = fields.lastModified
    return result
  }

  /// Whether a 304 speaks of this response: a strong entity tag in it must be the stored one (RFC 9111 section 4.3.4;
  /// a weak mark that a proxy added is overlooked). If not, the 304 must not be used, and the request is repeated
  /// without conditions.
  public func isConfirmed(by notModified: HTTPResponse) -> Bool {
    guard let tag = notModified.headerFields[.eTag], !tag.hasPrefix("W/") else { return true }
    return tag == fields.entityTag || "W/\(tag)" == fields.entityTag
  }

  /// The policy after a 304: its fields replace the stored ones, and the age is counted anew (RFC 9111 sections 3.2
  /// and 4.3.4). After a 304 with `no-store` the result is never fresh. The redirects that led to the 304 replace those
  /// before.
  public func renewed(
    by notModified: HTTPResponse, redirects: [HTTPResponse] = [], mayBeStored: Bool = true, requestedAt: Date,
    respondedAt: Date
  ) -> CachePolicy {
    let newer = Self.ofAny(
      response: notModified, redirects: redirects, mayBeStored: mayBeStored, requestedAt: requestedAt,
      respondedAt: respondedAt)
    return CachePolicy(
      status: status, fields: fields.updated(by: newer.fields), requestedAt: newer.requestedAt,
      respondedAt: newer.respondedAt)
  }
}
