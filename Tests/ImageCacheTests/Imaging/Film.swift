import Testing

@testable import ImageCache

/// The frames of a file as browsers show them, and the times for which they are shown.
struct Film {
  var frames: [DecodedPixels] = []
  /// The places of the frames on the canvas.
  var areas: [AnimationArea] = []
  var durations: [Int] = []
  var loops = 1

  init(_ bytes: [UInt8]) throws {
    let file = try ImageFile(bytes.span, limits: DecodingLimits(maxPixels: 1 << 20), decoders: .missing)
    let decoder = try #require(file.decoder as? any AnimationDecoder)
    let found = try decoder.animation(of: bytes.span)
    let animation = try #require(found)
    let canvas = try AnimationCanvas(size: decoder.header.storedSize)
    var warnings: [String] = []
    for frame in animation.frames {
      try canvas.begin(frame)
      try frame.decoder.decode(bytes.span, colors: ColorTransformCache(), into: canvas, warnings: &warnings)
      frames.append(DecodedPixels(canvas.bitmap))
    }
    areas = animation.frames.map(\.area)
    (durations, loops) = (animation.frames.map(\.duration), animation.loops)
  }

  init(_ thumbnail: Thumbnail) throws { try self.init(thumbnail.bytes) }
}
