/// Places the pixels of a frame on its canvas, in the order in which the file stores them.
struct GIFPainter {
  private let frame: GIFFrame
  private let canvasWidth: Int
  private let channels: Int
  private let colors: [PixelColor]
  private var column = 0
  private var row = 0
  private var passIndex = 0
  /// The offset of the next pixel's samples.
  private var offset: Int
  /// True if all pixels are placed.
  private(set) var isComplete = false

  /// The first row and the distance of rows of each pass of an interlaced frame (GIF89a, appendix E).
  private static let passes: [(start: Int, step: Int)] = [(0, 8), (4, 8), (2, 4), (1, 2)]

  /// Creates a painter for a frame that lies within the canvas of `header`, with 256 colors.
  init(_ header: GIFHeader, colors: [PixelColor]) {
    frame = header.frame
    canvasWidth = header.image.storedSize.width
    channels = header.image.layout.channels
    self.colors = colors
    offset = (frame.top * canvasWidth + frame.left) * channels
  }

  /// Places the first `count` indices. Those after the last pixel are ignored.
  mutating func place(_ indices: [UInt8], count: Int, on samples: inout MutableSpan<UInt8>) {
    for index in 0..<count where !isComplete {
      samples.set(colors[Int(indices[index])], at: offset, channels: channels)
      offset += channels
      column += 1
      if column == frame.size.width { startRow() }
    }
  }

  private mutating func startRow() {
    column = 0
    if frame.isInterlaced {
      row += Self.passes[passIndex].step
      // A low frame has passes without rows.
      while row >= frame.size.height && passIndex < 3 {
        passIndex += 1
        row = Self.passes[passIndex].start
      }
    } else {
      row += 1
    }
    isComplete = row >= frame.size.height
    offset = ((frame.top + row) * canvasWidth + frame.left) * channels
  }
}
