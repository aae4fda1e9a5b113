/// The header of a WebP file.
struct WebPHeader: Sendable {
  /// The properties that every format has. The size is that of the canvas.
  var image: ImageHeader
  /// The offset at which the file ends, according to its RIFF header.
  let end: Int
  /// True if the file has the extended layout, which allows metadata.
  var isExtended = false
  /// The position of the image, or of the first frame of an animation, on the canvas.
  var left = 0, top = 0
  /// The size of the image or first frame.
  var frameSize = PixelSize(width: 0, height: 0)
  /// True if the pixels are compressed without loss.
  var isLossless = false
  /// The byte range that begins with the chunks of the image or first frame.
  var pixels = 0..<0
  /// The byte range of the ICC profile; nil if there is none.
  var profile: Range<Int>?

  /// True if the image or first frame covers the whole canvas. The rest is transparent.
  var fillsCanvas: Bool { frameSize == image.storedSize }
}
