extension Thumbnail {
  /// The columns of ``init(_:key:specs:)`` before the body, in order.
  static let columns = ["spec_hash", "width", "height", "format", "length", "checksum"]

  /// Binds the values of ``columns`` to a statement.
  func bind(to run: inout StatementRun, key: SourceKey) {
    run.bind(spec.cacheHash)
    run.bind(size.width)
    run.bind(size.height)
    run.bind(format.rawValue)
    run.bind(bytes.count)
    run.bind(checksum(for: key))
  }

  /// Reads the thumbnail described by `columns` and the body after them; nil if its checksum does not match.
  ///
  /// - Parameter specs: The requested specs by hash.
  init?(_ columns: inout ColumnReader, key: SourceKey, specs: [Int: ThumbnailSpec]) {
    guard let spec = columns.integer().flatMap({ specs[$0] }), let width = columns.integer(),
      let height = columns.integer(), let format = columns.text().flatMap(OutputFormat.init(rawValue:)),
      let length = columns.integer(), let expected = columns.integer(), let bytes = columns.bytes(),
      bytes.count == length
    else { return nil }
    self.init(spec: spec, size: PixelSize(width: width, height: height), format: format, bytes: bytes)
    guard checksum(for: key) == expected else { return nil }
  }
}
