extension Thumbnail {
  /// The columns of ``init(_:key:specs:)`` before the picture, in their order.
  static let columns = ["spec_hash", "width", "height", "format", "length", "checksum"]

  /// Gives the values of ``columns`` to a statement.
  func bind(to run: inout StatementRun, key: SourceKey) {
    run.bind(spec.cacheHash)
    run.bind(size.width)
    run.bind(size.height)
    run.bind(format.rawValue)
    run.bind(bytes.count)
    run.bind(checksum(for: key))
  }

  /// The thumbnail that `columns` and the picture after them describe, if its checksum holds.
  ///
  /// - Parameter specs: What was asked for, by its hash.
  init?(_ columns: inout ColumnReader, key: SourceKey, specs: [Int: ThumbnailSpec]) {
    guard let spec = columns.integer().flatMap({ specs[$0] }), let width = columns.integer(),
      let height = columns.integer(), let format = columns.text().flatMap(ImageFormat.init(rawValue:)),
      let length = columns.integer(), let expected = columns.integer(), let bytes = columns.bytes(),
      bytes.count == length
    else { return nil }
    self.init(spec: spec, size: PixelSize(width: width, height: height), format: format, bytes: bytes)
    guard checksum(for: key) == expected else { return nil }
  }
}
