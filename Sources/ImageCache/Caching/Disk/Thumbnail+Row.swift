import Foundation
import GRDB

extension Thumbnail {
  /// The columns of ``arguments(for:)`` without the picture, and of ``init(_:key:)`` before it, in their order.
  static let columns = ["spec", "width", "height", "format", "length", "checksum"]

  /// The values of ``columns``.
  func arguments(for key: SourceKey) -> [(any DatabaseValueConvertible)?] {
    [spec.cacheText, size.width, size.height, format.rawValue, bytes.count, checksum(for: key)]
  }

  /// The thumbnail that `columns` and the picture after them describe, if its checksum holds.
  init?(_ columns: inout ColumnReader, key: SourceKey) {
    guard let spec = columns.text().flatMap(ThumbnailSpec.init(cacheText:)), let width = columns.integer(),
      let height = columns.integer(), let format = columns.text().flatMap(ImageFormat.init(rawValue:)),
      let length = columns.integer(), let expected = columns.integer(), let bytes = columns.bytes(),
      bytes.count == length
    else { return nil }
    self.init(spec: spec, size: PixelSize(width: width, height: height), format: format, bytes: bytes)
    guard Int(checksum(for: key)) == expected else { return nil }
  }
}

extension [UInt8] {
  /// The same bytes as SQLite's bindings want them.
  var asData: Data { Data(self) }
}
