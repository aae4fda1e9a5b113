/// Encodes thumbnails in one format, in this process.
protocol ImageEncoder: ThumbnailEncoder, MarkedFormat {
  /// Creates an encoder with the settings of `spec`, such as its quality.
  init(_ spec: ThumbnailSpec)

  /// Encodes a bitmap of an accepted layout, in sRGB, as a file without metadata.
  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8]

  /// The offset in every encoded file at which a comment can be inserted.
  static var commentOffset: Int { get }
}

extension ImageEncoder {
  func peakBytes(forPixels count: Int) -> Int { 0 }

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    EncodedFile(format: Self.format, bytes: ThumbnailMark.adding(to: try encode(bitmap), by: Self.self))
  }

  static func commentOffset(inFileOf count: Int) -> Int { commentOffset }

  static func mayHold(_ comment: ArraySlice<UInt8>, _ ends: FileEnds) -> Bool {
    ends.prefix.dropFirst(commentOffset).starts(with: comment)
  }
}
