/// The header of a GIF file and that of its first frame.
struct GIFHeader: Sendable {
  /// The properties that every format has. The size is that of the canvas.
  var image: ImageHeader
  /// The first frame.
  var frame: GIFFrame
}

/// A frame of a GIF file (GIF89a, section 20).
struct GIFFrame: Sendable {
  /// The column and row of its upper left corner on the canvas.
  var left, top: Int
  var size: PixelSize
  /// True if the rows are stored in four passes.
  var isInterlaced: Bool
  /// The location of its color table in the file; nil if neither the frame nor the file has one.
  var palette: Range<Int>?
  /// The index of the transparent color.
  var transparentIndex: Int?
  /// The offset of the byte with the code size, which the image data follows.
  var dataStart: Int

  /// The smallest canvas that the frame fits on.
  var extent: PixelSize { PixelSize(width: left + size.width, height: top + size.height) }

  /// Returns true if the frame leaves no pixel of the canvas transparent.
  func covers(_ canvas: PixelSize) -> Bool {
    transparentIndex == nil && left == 0 && top == 0 && size == canvas
  }
}
