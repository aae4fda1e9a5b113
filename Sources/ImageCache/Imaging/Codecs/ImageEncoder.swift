/// Encodes thumbnails in one format.
protocol ImageEncoder: ThumbnailEncoder {
  /// The format of the files.
  static var format: OutputFormat { get }

  /// Creates an encoder with the settings of `spec`, such as its quality.
  init(_ spec: ThumbnailSpec)

  /// Encodes a bitmap of an accepted layout, in sRGB, as a file without metadata.
  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8]

  /// The offset in every encoded file at which a comment can be inserted.
  static var commentOffset: Int { get }

  /// Returns the bytes that add a comment to a file. `text` is ASCII, at most 250 characters.
  static func comment(_ text: String) -> [UInt8]

  /// Changes the bytes before the comment of a file that becomes `count` bytes longer by it. Does nothing by default.
  static func lengthen(_ head: inout [UInt8], by count: Int)
}

extension ImageEncoder {
  func peakBytes(forPixels count: Int) -> Int { 0 }

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    EncodedFile(format: Self.format, bytes: ThumbnailMark.adding(to: try encode(bitmap), by: Self.self))
  }

  static func lengthen(_ head: inout [UInt8], by count: Int) {}
}
