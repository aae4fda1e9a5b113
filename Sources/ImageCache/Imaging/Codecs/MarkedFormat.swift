/// A format whose files can hold a comment, and so have a ``ThumbnailMark``.
protocol MarkedFormat: SendableMetatype {
  /// The format of the files.
  static var format: OutputFormat { get }

  /// Returns the offset at which a comment can be inserted into an encoded file of `count` bytes.
  static func commentOffset(inFileOf count: Int) -> Int

  /// Returns the bytes that add a comment to a file. `text` is ASCII, at most 240 characters.
  static func comment(_ text: String) -> [UInt8]

  /// Changes the bytes before the comment of a file that becomes `count` bytes longer by it. Does nothing by default.
  static func lengthen(_ head: inout [UInt8], by count: Int)

  /// Returns the size that the header of a file declares, as it is displayed; nil for a file of another format.
  static func size(of file: Span<UInt8>) -> PixelSize?

  /// Returns the offset at which a file ends, according to its own structure; nil if a part of it is missing or
  /// malformed. Reads no pixels.
  static func end(of file: Span<UInt8>) -> Int?

  /// Returns true if a file with these ends may have a comment that begins with `comment`.
  static func mayHold(_ comment: ArraySlice<UInt8>, _ ends: FileEnds) -> Bool
}

/// The first and the last bytes of a file.
struct FileEnds {
  var prefix: [UInt8]
  var suffix: [UInt8]
}

extension MarkedFormat {
  static func lengthen(_ head: inout [UInt8], by count: Int) {}
}
