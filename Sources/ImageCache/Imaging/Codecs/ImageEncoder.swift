/// Encodes thumbnails in one format. A value holds the settings from a spec.
protocol ImageEncoder: Sendable {
  /// The format of the files.
  static var format: OutputFormat { get }

  /// Creates an encoder with the settings of `spec`, such as its quality.
  init(_ spec: ThumbnailSpec)

  /// The number of pixels per chroma sample in each direction: 1 if every pixel has its own color.
  var chromaStep: Int { get }

  /// Returns true if ``encode(_:)`` accepts bitmaps of this layout. Every encoder accepts gray and RGB.
  func accepts(_ layout: PixelLayout) -> Bool

  /// Encodes a bitmap of an accepted layout, in sRGB, as a file without metadata.
  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8]

  /// The offset in every encoded file at which a comment can be inserted.
  static var commentOffset: Int { get }

  /// Returns the bytes that add a comment to a file. `text` is ASCII, at most 250 characters.
  static func comment(_ text: String) -> [UInt8]
}
