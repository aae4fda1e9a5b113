import GRDB

extension StoredSource {
  /// The columns of ``arguments(for:)`` and ``init(_:key:)``, in their order.
  static let columns = [
    "url", "final_url", "status", "requested_at", "responded_at", "response_status", "cache_control", "expires",
    "date", "age", "etag", "last_modified", "vary", "format", "width", "height", "digest", "length", "failure_code",
    "failure_message", "renderer", "checksum",
  ]

  /// The values of ``columns``.
  func arguments(for key: SourceKey) -> [(any DatabaseValueConvertible)?] {
    let fields = policy.fields
    let head: [(any DatabaseValueConvertible)?] = [
      url, finalURL, status, policy.requestedAt, policy.respondedAt, policy.status, fields.cacheControl,
      fields.expires, fields.date, fields.age, fields.entityTag, fields.lastModified, fields.vary,
    ]
    return head + contentArguments + [Renderer.version, checksum(for: key)]
  }

  private var contentArguments: [(any DatabaseValueConvertible)?] {
    switch content {
    case .picture(let image, let digest, let bytes):
      [image.format.rawValue, image.size.width, image.size.height, digest.bytes.asData, bytes, nil, nil]
    case .failure(let code, let message):
      [nil, nil, nil, nil, nil, code, message]
    }
  }

  /// The source that `columns` describe, if they are whole and were stored under `key`.
  init?(_ columns: inout ColumnReader, key: SourceKey) {
    guard let url = columns.text() else { return nil }
    let finalURL = columns.text()
    guard let status = columns.integer(), let policy = CachePolicy(&columns),
      let content = Content(&columns)
    else { return nil }
    self.init(url: url, finalURL: finalURL, status: status, policy: policy, content: content)
    let renderer = columns.integer()
    guard columns.integer() == Int(checksum(for: key)) else { return nil }
    // What one renderer could not decode, the next one may.
    if case .failure = content, renderer != Renderer.version { return nil }
  }
}

extension CachePolicy {
  fileprivate init?(_ columns: inout ColumnReader) {
    guard let requestedAt = columns.integer(), let respondedAt = columns.integer(), let status = columns.integer()
    else { return nil }
    var fields = ResponseFields()
    fields.cacheControl = columns.text()
    fields.expires = columns.text()
    fields.date = columns.text()
    fields.age = columns.text()
    fields.entityTag = columns.text()
    fields.lastModified = columns.text()
    fields.vary = columns.text()
    self.init(status: status, fields: fields, requestedAt: requestedAt, respondedAt: respondedAt)
  }
}

extension StoredSource.Content {
  fileprivate init?(_ columns: inout ColumnReader) {
    let format = columns.text().flatMap(ImageFormat.init(rawValue:))
    let (width, height) = (columns.integer(), columns.integer())
    let digest = columns.bytes().flatMap { BodyDigest(bytes: $0) }
    let (length, code, message) = (columns.integer(), columns.text(), columns.text())
    if let code, let message {
      self = .failure(code: code, message: message)
    } else if let format, let width, let height, let digest, let length {
      self = .picture(
        SourceImage(size: PixelSize(width: width, height: height), format: format), digest: digest, bytes: length)
    } else {
      return nil
    }
  }
}
