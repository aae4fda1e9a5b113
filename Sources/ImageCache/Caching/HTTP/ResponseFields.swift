import HTTPTypes

/// The header fields of a response that caching needs, as received, and what the redirects that led to it allow.
struct ResponseFields: Hashable, Sendable {
  var cacheControl: String?
  var expires: String?
  var date: String?
  var age: String?
  var entityTag: String?
  var lastModified: String?
  var vary: String?
  /// What the redirects on the way allow, as one value of `Cache-Control`; nil without redirects. Its `max-age` counts
  /// from the response on. See ``CachePolicy/control(of:mayBeStored:requestedAt:respondedAt:)``.
  var redirectControl: String?

  init() {}

  init(_ fields: HTTPFields) {
    cacheControl = fields[.cacheControl]
    expires = fields[.expires]
    date = fields[.date]
    age = fields[.age]
    entityTag = fields[.eTag]
    lastModified = fields[.lastModified]
    vary = fields[.vary]
  }

  /// Gives every field to `body`, in the order in which they are stored and summed up. No array: every look-up on disk
  /// comes through here.
  func forEach(_ body: (String?) -> Void) {
    body(cacheControl)
    body(expires)
    body(date)
    body(age)
    body(entityTag)
    body(lastModified)
    body(vary)
    body(redirectControl)
  }

  /// The fields after a 304 that brought `newer`, RFC 9111 section 3.2: what it names is replaced, the rest is kept.
  ///
  /// `Date` and `Age` speak of one message's way, so the old ones never stand beside the new message's times. The same
  /// holds for the redirects.
  func updated(by newer: ResponseFields) -> ResponseFields {
    var result = newer
    result.cacheControl = newer.cacheControl ?? cacheControl
    result.expires = newer.expires ?? expires
    result.entityTag = newer.entityTag ?? entityTag
    result.lastModified = newer.lastModified ?? lastModified
    result.vary = newer.vary ?? vary
    return result
  }
}
