extension PNGDecoder: AnimationDecoder {
  func animation(of file: Span<UInt8>) -> Animation? { PNGAnimationReader(canvas: header.storedSize).read(file).moving }
}

/// Walks the chunks of an animated PNG file (PNG Specification, third edition, sections 4.9 and 11.3.5).
private struct PNGAnimationReader {
  let canvas: PixelSize
  private var animation = Animation()
  private var isAnimated = false
  /// The chunks before the image data that all frames have in common, by their place in ``commonTypes``.
  private var common: [Int: Range<Int>] = [:]
  private var hasData = false
  /// The frame whose data follows.
  private var next: (frame: AnimationFrame, decoder: PNGFrameDecoder)?

  /// The types of the chunks that say how pixels are shown, in an order that the specification allows (section 5.6).
  /// All others are left out, because they would be copied for each frame.
  private static let commonTypes: [StaticString] = ["cICP", "iCCP", "sRGB", "cHRM", "gAMA", "PLTE", "tRNS"]

  init(canvas: PixelSize) { self.canvas = canvas }

  /// Lists the frames. Damage ends the list.
  consuming func read(_ bytes: Span<UInt8>) -> Animation {
    var offset = 8
    while let length = bytes.uint32(at: offset), length <= bytes.count - offset - 12,
      animation.frames.count < Animation.maxFrames, animation.fault == nil
    {
      if bytes.has("IEND", at: offset + 4) {
        addFrame()
        return isAnimated ? animation : Animation()
      }
      readChunk(bytes, offset..<offset + 12 + length)
      offset += 12 + length
    }
    if bytes.uint32(at: offset).map({ $0 > bytes.count - offset - 12 }) ?? true {
      animation.fault = ImageError(.truncated, "The image data is truncated: the PNG file ends within a frame.")
    } else {
      addFrame()
    }
    return isAnimated ? animation : Animation()
  }

  private mutating func readChunk(_ bytes: Span<UInt8>, _ chunk: Range<Int>) {
    let (type, data) = (chunk.lowerBound + 4, chunk.lowerBound + 8..<chunk.upperBound - 4)
    if bytes.has("acTL", at: type), data.count >= 8 {
      isAnimated = true
      animation.loops = bytes.uint32(at: data.lowerBound + 4) ?? 0
    } else if bytes.has("fcTL", at: type) {
      addFrame()
      readControl(bytes, data)
    } else if bytes.has("IDAT", at: type) {
      hasData = true
      // Without a control chunk before it, the image is no frame.
      next?.decoder.data.append(data)
    } else if bytes.has("fdAT", at: type), data.count >= 4 {
      next?.decoder.data.append(data.lowerBound + 4..<data.upperBound)
    } else if !hasData, let place = Self.commonTypes.firstIndex(where: { bytes.has($0, at: type) }) {
      common[place] = common[place] ?? chunk
    }
  }

  /// Adds the frame whose data is complete.
  private mutating func addFrame() {
    guard var (frame, decoder) = next else { return }
    decoder.common = Self.commonTypes.indices.compactMap { common[$0] }
    frame.decoder = decoder
    animation.frames.append(frame)
    next = nil
  }

  /// Reads the chunk `fcTL`.
  private mutating func readControl(_ bytes: Span<UInt8>, _ data: Range<Int>) {
    let numbers = (1...4).map { bytes.uint32(at: data.lowerBound + 4 * $0) ?? 0 }
    let area = AnimationArea(
      left: numbers[2], top: numbers[3], size: PixelSize(width: numbers[0], height: numbers[1]))
    guard data.count >= 26, min(numbers[0], numbers[1]) > 0, numbers[0] + numbers[2] <= canvas.width,
      numbers[1] + numbers[3] <= canvas.height
    else {
      animation.fault = ImageError(.decodeError, "The image is corrupt: a frame of the PNG file exceeds the canvas.")
      return
    }
    let delay = bytes.uint16(at: data.lowerBound + 20) ?? 0
    let unit = bytes.uint16(at: data.lowerBound + 22) ?? 0
    let duration = AnimationFrame.shown(milliseconds: delay * 1000 / (unit == 0 ? 100 : unit))
    let disposals: [UInt8: FrameDisposal] = [1: .clear, 2: .restore]
    let decoder = PNGFrameDecoder(size: area.size)
    let frame = AnimationFrame(
      area: area, duration: duration, disposal: disposals[bytes[data.lowerBound + 24]] ?? .keep,
      blending: bytes[data.lowerBound + 25] == 1 ? .over : .overwriting, decoder: decoder)
    next = (frame, decoder)
  }
}

/// Decodes one frame of an animated PNG file: puts a file together that has its data as its image data.
private struct PNGFrameDecoder: FrameDecoder {
  let size: PixelSize
  /// The chunks before the image data that all frames have in common.
  var common: [Range<Int>] = []
  /// The parts of the compressed data.
  var data: [Range<Int>] = []

  init(size: PixelSize) { self.size = size }

  var peakBytes: Int { min(8 * size.area, 32 << 20) + 64 * size.width + 3 * data.reduce(0) { $0 + $1.count } }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let frame = bytes(from: file)
    let limits = DecodingLimits(maxPixels: size.area)
    guard let decoder = try PNGDecoder(whole: frame.span, limits: limits) else {
      throw ImageError(.decodeError, "The image is corrupt: a frame of the PNG file has no data.")
    }
    try decoder.decode(frame.span, colors: colors, into: sink, warnings: &warnings)
  }

  private func bytes(from file: Span<UInt8>) -> [UInt8] {
    func copied(_ ranges: [Range<Int>]) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(ranges.reduce(0) { $0 + $1.count })
      for range in ranges { file.extracting(range).withUnsafeBufferPointer { bytes += $0 } }
      return bytes
    }
    let sides = [size.width, size.height].map { PNGEncoder.bigEndian(UInt32(truncatingIfNeeded: $0)) }
    let header = PNGEncoder.chunk("IHDR", sides[0] + sides[1] + copied([24..<29]))
    let start = copied([0..<8]) + header + copied(common)
    return start + PNGEncoder.chunk("IDAT", copied(data)) + PNGEncoder.chunk("IEND", [])
  }
}
