extension StoredSource {
  /// The columns of ``bind(to:key:)`` and ``row(_:key:)``, in order.
  static let columns = [
    "url", "final_url", "status", "requested_at", "responded_at", "response_status", "cache_control", "expires",
    "date", "age", "etag", "last_modified", "vary", "redirect_control", "format", "width", "height", "digest", "length",
    "failure_code",
    "failure_message", "renderer", "checksum",
  ]

  /// Binds the values of ``columns`` to a statement.
  func bind(to run: inout StatementRun, key: SourceKey) {
    run.bind(url)
    run.bind(finalURL)
    run.bind(status)
    policy.bind(to: &run)
    content.bind(to: &run)
    run.bind(Renderer.version)
    run.bind(checksum(for: key))
  }

  /// A source, and true if it is a failure of another renderer version: a later version may succeed.
  typealias Row = (source: StoredSource, isOutdated: Bool)

  /// Reads the source described by `columns`; nil if it is damaged or was not stored under `key`.
  static func row(_ columns: inout ColumnReader, key: SourceKey) -> Row? {
    guard let url = columns.text() else { return nil }
    let finalURL = columns.text()
    guard let status = columns.integer(), let policy = CachePolicy(&columns),
      let content = Content(&columns)
    else { return nil }
    let source = StoredSource(url: url, finalURL: finalURL, status: status, policy: policy, content: content)
    let renderer = columns.integer()
    guard columns.integer() == source.checksum(for: key) else { return nil }
    if case .failure = content { return (source, renderer != Renderer.version) }
    return (source, false)
  }
}

extension CachePolicy {
  fileprivate func bind(to run: inout StatementRun) {
    for number in [requestedAt, respondedAt, status] { run.bind(number) }
    fields.forEach { run.bind($0) }
  }

  fileprivate init?(_ columns: inout ColumnReader) {
    guard let requestedAt = columns.amount(), let respondedAt = columns.amount(), let status = columns.integer()
    else { return nil }
    var fields = ResponseFields()
    fields.cacheControl = columns.text()
    fields.expires = columns.text()
    fields.date = columns.text()
    fields.age = columns.text()
    fields.entityTag = columns.text()
    fields.lastModified = columns.text()
    fields.vary = columns.text()
    fields.redirectControl = columns.text()
    self.init(status: status, fields: fields, requestedAt: requestedAt, respondedAt: respondedAt)
  }
}

extension StoredSource.Content {
  fileprivate func bind(to run: inout StatementRun) {
    switch self {
    case .image(let image, let digest, let bytes):
      run.bind(image.format.rawValue)
      run.bind(image.size.width)
      run.bind(image.size.height)
      run.bind(digest.bytes)
      run.bind(bytes)
      run.skip(2)
    case .failure(let code, let message, let digest):
      run.skip(3)
      if let digest { run.bind(digest.bytes) } else { run.skip(1) }
      run.skip(1)
      run.bind(code)
      run.bind(message)
    }
  }

  fileprivate init?(_ columns: inout ColumnReader) {
    let format = columns.text().flatMap(SourceFormat.init(rawValue:))
    let (width, height) = (columns.integer(), columns.integer())
    let digest = columns.bytes().flatMap { BodyDigest(bytes: $0) }
    let (length, code, message) = (columns.integer(), columns.text(), columns.text())
    if let code, let message {
      self = .failure(code: code, message: message, digest: digest)
    } else if let format, let width, let height, let digest, let length {
      self = .image(
        SourceImage(size: PixelSize(width: width, height: height), format: format), digest: digest, bytes: length)
    } else {
      return nil
    }
  }
}
