import HTTPTypes

/// The header fields of a response that caching needs, as received, plus the restrictions of its redirects.
struct ResponseFields: Hashable, Sendable {
  var cacheControl: String?
  var expires: String?
  var date: String?
  var age: String?
  var entityTag: String?
  var lastModified: String?
  var vary: String?
  /// The restrictions of the redirects as one `Cache-Control` value; nil without redirects. Its `max-age` counts from
  /// the response. See ``CachePolicy/control(of:mayBeStored:mayBeShared:requestedAt:respondedAt:)``.
  var redirectControl: String?

  init() {}

  init(_ fields: HTTPFields) {
    cacheControl = fields[.cacheControl]
    expires = fields[.expires]
    date = fields[.date]
    age = fields[.age]
    entityTag = fields[.eTag].flatMap(Self.keptValidator)
    lastModified = fields[.lastModified].flatMap(Self.keptValidator)
    vary = fields[.vary]
  }

  /// Returns a validator of at most 1 KiB, which covers all that serve their purpose; nil for any other. Without one,
  /// the source is downloaded again instead of being revalidated.
  private static func keptValidator(_ value: String) -> String? { value.utf8.count <= 1024 ? value : nil }

  /// True if the validators are not longer than those of a response that was received. Longer ones of another writer
  /// could make a server reject the request.
  var hasSendableValidators: Bool {
    [entityTag, lastModified].allSatisfy { $0 == nil || $0.flatMap(Self.keptValidator) != nil }
  }

  /// Creates fields from the values that `next` returns, in the order of ``forEach(_:)``.
  init(_ next: () -> String?) {
    cacheControl = next()
    expires = next()
    date = next()
    age = next()
    entityTag = next()
    lastModified = next()
    vary = next()
    redirectControl = next()
  }

  /// Calls `body` with every field, in the order in which they are packed.
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

  /// Returns the fields updated by those of a 304 (RFC 9111, section 3.2): fields present in `newer` replace the stored
  /// ones, the others are kept.
  ///
  /// `Date` and `Age` describe one message in transit, so the old ones must not be combined with the times of the new
  /// message. The same holds for the redirects.
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

/// The header fields of a stored response as bytes. They are unpacked only for validation and for people; a fresh hit
/// needs none of them.
struct PackedFields: Hashable, Sendable {
  /// The most bytes that are stored on disk.
  static let longest = 1 << 20

  let bytes: [UInt8]

  /// Packs `fields`.
  init(_ fields: ResponseFields) {
    var writer = RecordWriter(capacity: 256)
    fields.forEach { writer.add($0) }
    bytes = writer.bytes
  }

  /// Takes over the bytes of packed fields.
  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The fields. Those that cannot be unpacked are missing.
  var fields: ResponseFields {
    bytes.withUnsafeBytes { bytes in
      var reader = RecordReader(bytes)
      return ResponseFields { reader.text(atMost: Self.longest) }
    }
  }
}
