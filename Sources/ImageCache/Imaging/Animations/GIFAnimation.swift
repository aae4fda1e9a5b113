extension GIFDecoder: AnimationDecoder {
  func animation(of file: Span<UInt8>) -> Animation? { GIFAnimationReader(canvas: header.storedSize).read(file).moving }
}

/// Walks the blocks of a GIF file, of which browsers show all frames and other decoders the first.
private struct GIFAnimationReader {
  let canvas: PixelSize
  private var animation = Animation()
  private var control = GIFControl()

  init(canvas: PixelSize) {
    self.canvas = canvas
    animation.loops = 1
  }

  /// Lists the frames. Damage ends the list; garbage does as well.
  consuming func read(_ bytes: Span<UInt8>) -> Animation {
    let global = GIFHeaderReader.palette(flags: bytes[10], at: 13)
    var offset = global?.upperBound ?? 13
    while offset < bytes.count, animation.frames.count < Animation.maxFrames {
      let end: Int?
      switch bytes[offset] {
      case GIFBlock.frame: end = readFrame(bytes, at: offset, global)
      case GIFBlock.extensionBlock: end = readExtension(bytes, at: offset)
      case GIFBlock.trailer: return animation
      // Some writers put an extra terminator between two blocks.
      case 0: end = offset + 1
      // Before the first frame, the reader of the header ignores garbage.
      default: end = animation.frames.isEmpty ? offset + 1 : bytes.count
      }
      guard let end else {
        animation.fault = ImageError(.truncated, "The GIF file ends before its image data does.")
        break
      }
      offset = end
    }
    return animation
  }

  /// Adds the frame at `offset`, and returns its end; nil if the file ends before.
  private mutating func readFrame(_ bytes: Span<UInt8>, at offset: Int, _ global: Range<Int>?) -> Int? {
    guard var frame = GIFHeaderReader.frame(bytes, at: offset),
      let end = GIFBlock.end(ofDataAt: frame.dataStart + 1, in: bytes)
    else { return nil }
    frame.palette = frame.palette ?? global
    frame.transparentIndex = control.transparentIndex
    // As in browsers, a frame without a size is as large as the canvas.
    if frame.size.width == 0 || frame.size.height == 0 { (frame.left, frame.top, frame.size) = (0, 0, canvas) }
    let area = AnimationArea(left: frame.left, top: frame.top, size: frame.size)
    animation.frames.append(
      AnimationFrame(
        area: area, duration: AnimationFrame.shown(milliseconds: 10 * control.delay), disposal: control.disposal,
        decoder: GIFFrameDecoder(frame, canvas: canvas)))
    control = GIFControl()
    return end
  }

  private mutating func readExtension(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
    control.read(bytes, at: offset)
    readLoops(bytes, at: offset)
    return GIFBlock.end(ofDataAt: offset + 2, in: bytes)
  }

  /// Reads the number of repetitions from the extension of Netscape, which all programs know.
  private mutating func readLoops(_ bytes: Span<UInt8>, at offset: Int) {
    guard bytes.has("NETSCAPE2.0", at: offset + 3), offset + 18 <= bytes.count, bytes[offset + 14] >= 3,
      bytes[offset + 15] & 7 == 1, let repetitions = bytes.uint16(at: offset + 16, .little)
    else { return }
    // The first time is not a repetition.
    animation.loops = repetitions == 0 ? 0 : repetitions + 1
  }
}

/// The properties that a graphic control extension gives the next frame (GIF89a, section 23).
private struct GIFControl {
  private(set) var disposal = FrameDisposal.keep
  /// The delay in hundredths of a second.
  private(set) var delay = 0
  private(set) var transparentIndex: Int?

  mutating func read(_ bytes: Span<UInt8>, at offset: Int) {
    guard offset <= bytes.count - 7, bytes[offset + 1] == 0xF9, bytes[offset + 2] >= 4 else { return }
    let flags = bytes[offset + 3]
    switch flags >> 2 & 7 {
    case 2: disposal = .clear
    // Some writers have written 4 for 3.
    case 3, 4: disposal = .restore
    default: disposal = .keep
    }
    delay = bytes.uint16(at: offset + 4, .little) ?? 0
    transparentIndex = flags & 1 == 1 ? Int(bytes[offset + 6]) : nil
  }
}

/// Decodes one frame of a GIF file.
private struct GIFFrameDecoder: FrameDecoder {
  private let frame: GIFFrame
  private let canvas: PixelSize

  init(_ frame: GIFFrame, canvas: PixelSize) {
    var frame = frame
    (frame.left, frame.top) = (0, 0)
    (self.frame, self.canvas) = (frame, canvas)
  }

  /// The most pixels of a frame that is larger than its canvas.
  private static let maxPixels = 1 << 22

  private var isTooLarge: Bool { frame.size.area > max(canvas.area, Self.maxPixels) }

  var peakBytes: Int { isTooLarge ? 0 : 4 * frame.size.area }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    guard !isTooLarge else {
      throw ImageError(.decodeError, "A frame of the GIF file is much larger than its canvas.")
    }
    let bitmap = try Bitmap(size: frame.size, layout: .rgba)
    bitmap.fill(0 as UInt8)
    try bitmap.write { samples throws(ImageError) in
      _ = try frame.paint(file, canvasWidth: frame.size.width, channels: 4, on: &samples)
    }
    try sink.take(whole: bitmap)
  }
}
