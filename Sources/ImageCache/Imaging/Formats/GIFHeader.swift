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

/// Walks the blocks of a GIF file (GIF89a, sections 17 to 26).
struct GIFHeaderReader {
  let limits: DecodingLimits

  /// Reads the header. Returns nil if `bytes` end before the data of the first frame begins.
  func read(_ bytes: Span<UInt8>) throws(ImageError) -> GIFHeader? {
    guard bytes.count >= 13 else { return nil }
    let global = Self.palette(flags: bytes[10], at: 13)
    var offset = global?.upperBound ?? 13
    var transparentIndex: Int?
    for _ in 0..<DecodingLimits.maxSegments {
      guard offset < bytes.count else { return nil }
      switch bytes[offset] {
      case GIFBlock.frame:
        guard var frame = Self.frame(bytes, at: offset) else { return nil }
        frame.palette = frame.palette ?? global
        frame.transparentIndex = transparentIndex
        return try header(bytes, of: frame)
      case GIFBlock.extensionBlock:
        if let index = Self.transparentIndex(bytes, at: offset) { transparentIndex = index }
        guard let end = GIFBlock.end(ofDataAt: offset + 2, in: bytes) else { return nil }
        offset = end
      case GIFBlock.trailer:
        throw ImageError(.decodeError, "The GIF file ends without image data.")
      default:
        // Some writers put an extra terminator between two blocks.
        offset += 1
      }
    }
    throw ImageError(.decodeLimit, "The GIF file has too many blocks before its image data.")
  }

  /// Returns the header of a file with this first frame. As in browsers, the canvas grows if the frame extends past the
  /// screen, and a frame without a size is as large as the screen.
  private func header(_ bytes: Span<UInt8>, of first: GIFFrame) throws(ImageError) -> GIFHeader {
    var frame = first
    let screen = PixelSize(width: bytes.uint16(at: 6, .little) ?? 0, height: bytes.uint16(at: 8, .little) ?? 0)
    if frame.size.width == 0 || frame.size.height == 0 { (frame.left, frame.top, frame.size) = (0, 0, screen) }
    let canvas = PixelSize(
      width: max(screen.width, frame.extent.width), height: max(screen.height, frame.extent.height))
    try limits.check(canvas)
    let layout: PixelLayout = frame.covers(canvas) ? .rgb : .rgba
    return GIFHeader(image: ImageHeader(format: .gif, storedSize: canvas, layout: layout), frame: frame)
  }

  /// Reads the descriptor of a frame, and finds its color table and data.
  static func frame(_ bytes: Span<UInt8>, at offset: Int) -> GIFFrame? {
    guard offset <= bytes.count - 10 else { return nil }
    let numbers = [1, 3, 5, 7].map { bytes.uint16(at: offset + $0, .little) ?? 0 }
    let flags = bytes[offset + 9]
    let local = palette(flags: flags, at: offset + 10)
    let dataStart = local?.upperBound ?? offset + 10
    guard dataStart < bytes.count else { return nil }
    return GIFFrame(
      left: numbers[0], top: numbers[1], size: PixelSize(width: numbers[2], height: numbers[3]),
      isInterlaced: flags & 0x40 != 0, palette: local, dataStart: dataStart)
  }

  /// Returns the location of the color table that `flags` declare; nil if there is none.
  static func palette(flags: UInt8, at offset: Int) -> Range<Int>? {
    flags & 0x80 == 0 ? nil : offset..<offset + 3 << (Int(flags & 7) + 1)
  }

  /// Returns the index of the transparent color if the block at `offset` is a graphic control extension that has one.
  private static func transparentIndex(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
    guard offset <= bytes.count - 7, bytes[offset + 1] == 0xF9, bytes[offset + 2] >= 4, bytes[offset + 3] & 1 == 1
    else { return nil }
    return Int(bytes[offset + 6])
  }
}

/// The blocks of a GIF file (GIF89a, section 12).
enum GIFBlock {
  static let frame: UInt8 = 0x2C
  static let extensionBlock: UInt8 = 0x21
  static let trailer: UInt8 = 0x3B

  /// Returns the offset after the sub-blocks at `start` and their terminator; nil if `bytes` end before.
  static func end(ofDataAt start: Int, in bytes: Span<UInt8>) -> Int? {
    var offset = start
    while offset < bytes.count {
      let length = Int(bytes[offset])
      offset += 1 + length
      if length == 0 { return offset }
    }
    return nil
  }

  /// The end of a file.
  enum Ending { case complete, missingTrailer, garbage, truncated }

  /// Walks the blocks from `start`, without decoding them, to find out if the file is complete.
  static func ending(of bytes: Span<UInt8>, from start: Int) -> Ending {
    var offset = start
    while offset < bytes.count {
      let data: Int
      switch bytes[offset] {
      case trailer: return .complete
      case extensionBlock: data = offset + 2
      case frame:
        guard offset <= bytes.count - 10 else { return .truncated }
        let flags = bytes[offset + 9]
        data = offset + 11 + (flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1))
      default: return .garbage
      }
      guard let end = end(ofDataAt: data, in: bytes) else { return .truncated }
      offset = end
    }
    return .missingTrailer
  }
}
