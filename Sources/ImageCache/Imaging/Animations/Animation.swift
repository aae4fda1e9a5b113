/// Decodes a file that may have several frames.
protocol AnimationDecoder: ImageDecoder {
  /// Returns the frames of the whole file; nil unless it has several. Decodes no pixels.
  func animation(of file: Span<UInt8>) throws(ImageError) -> Animation?
}

/// The frames of a file, which browsers show one after the other.
struct Animation: Sendable {
  /// The most frames that are listed.
  static let maxFrames = 1 << 16

  var frames: [AnimationFrame] = []
  /// The number of times that the animation is shown; 0 for ever.
  var loops = 0
  /// The damage because of which there are no more frames; nil if the file is whole.
  var fault: ImageError?

  /// Itself; nil unless there are several frames.
  var moving: Animation? { frames.count > 1 ? self : nil }
}

/// A frame of an animation, and what happens to it on the canvas.
struct AnimationFrame: Sendable {
  /// The place on the canvas. What extends past the canvas is not shown.
  var area: AnimationArea
  /// The time for which the frame is shown, in milliseconds.
  var duration: Int
  var disposal = FrameDisposal.keep
  var blending = FrameBlending.over
  var decoder: any FrameDecoder

  /// Returns the duration that browsers give a frame: one of at most 10 ms is shown for 100 ms, because old programs
  /// showed such frames more slowly.
  static func shown(milliseconds: Int) -> Int { milliseconds <= 10 ? 100 : milliseconds }
}

/// A place on the canvas of an animation.
struct AnimationArea: Hashable, Sendable {
  var left = 0, top = 0
  var size: PixelSize
}

/// The fate of a frame on the canvas before the next one is drawn.
enum FrameDisposal {
  case keep
  /// The area of the frame becomes transparent.
  case clear
  /// The area of the frame becomes what it was before.
  case restore
}

/// The way to draw a frame on the canvas.
enum FrameBlending {
  /// The canvas shows through where the frame is transparent.
  case over
  /// The canvas becomes transparent where the frame is.
  case overwriting
}

/// Decodes one frame of a file.
protocol FrameDecoder: Sendable {
  /// The peak number of bytes that ``decode(_:colors:into:warnings:)`` allocates, estimated generously.
  var peakBytes: Int { get }

  /// Takes what the frames need besides memory. Called for the first frame before each pass over all of them, and
  /// before the memory is taken. Does nothing by default.
  func prepare(_ file: Span<UInt8>) throws(ImageError)

  /// Decodes the frame of a whole file.
  ///
  /// Throws `truncated` or `decodeError` if the frame is damaged; `sink` may have got a part of it then.
  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError)
}

extension FrameDecoder {
  func prepare(_ file: Span<UInt8>) throws(ImageError) {}
}
