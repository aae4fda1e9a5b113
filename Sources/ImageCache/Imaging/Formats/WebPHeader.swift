/// The header of a WebP file.
struct WebPHeader: Sendable {
  /// The properties that every format has. The size is that of the canvas.
  var image: ImageHeader
  /// The offset at which the file ends, according to its RIFF header.
  var end: Int
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

/// Walks the chunks of a WebP file up to its image data (RFC 9649, section 2).
struct WebPHeaderReader {
  let limits: DecodingLimits

  /// Reads the header. Returns nil if `bytes` end before the header of the image data.
  func read(_ bytes: Span<UInt8>) throws(ImageError) -> WebPHeader? {
    guard let size = bytes.uint32(at: 4, .little), bytes.count >= 16 else { return nil }
    guard size >= 12 else { throw ImageError(.decodeError, "The RIFF header of the WebP file has an invalid size.") }
    var header = WebPHeader(
      image: ImageHeader(format: .webp, storedSize: PixelSize(width: 0, height: 0), layout: .rgb), end: 8 + size)
    header.isExtended = bytes.has("VP8X", at: 12)
    if header.isExtended {
      guard let canvas = size24(bytes, at: 24) else { return nil }
      header.image.storedSize = canvas
      try limits.check(canvas)
    }
    return try readChunks(bytes, into: &header) ? header : nil
  }

  /// Reads the chunks up to the image. Returns false if more bytes are needed.
  private func readChunks(_ bytes: Span<UInt8>, into header: inout WebPHeader) throws(ImageError) -> Bool {
    var offset = 12
    for _ in 0..<DecodingLimits.maxSegments {
      guard let chunk = try chunk(bytes, at: offset, before: header.end) else { return false }
      if let isComplete = try readImage(bytes, chunk, before: header.end, into: &header) { return isComplete }
      if bytes.has("ANMF", at: offset) { return try readFrame(bytes, chunk, into: &header) }
      guard header.isExtended else { throw ImageError(.decodeError, "The WebP file does not begin with image data.") }
      if bytes.has("ICCP", at: offset) { header.profile = header.profile ?? chunk }
      if bytes.has("EXIF", at: offset) {
        guard chunk.upperBound <= bytes.count else { return false }
        header.readOrientation(exif: bytes.extracting(chunk))
      }
      offset = chunk.upperBound + chunk.count % 2
    }
    throw ImageError(.decodeLimit, "The WebP file has too many chunks before its image data.")
  }

  /// Returns the byte range of the data of the chunk at `offset`; nil if more bytes are needed. `end` is that of the
  /// enclosing chunk.
  private func chunk(_ bytes: Span<UInt8>, at offset: Int, before end: Int) throws(ImageError) -> Range<Int>? {
    guard offset + 8 <= end else { throw ImageError(.decodeError, "The WebP file ends without image data.") }
    guard let count = bytes.uint32(at: offset + 4, .little) else { return nil }
    guard offset + 8 + count <= end else {
      throw ImageError(.decodeError, "A chunk of the WebP file has an invalid size.")
    }
    return offset + 8..<offset + 8 + count
  }

  /// Reads the first frame of an animation: its position, and the header of its image. Returns false if more bytes are
  /// needed.
  func readFrame(
    _ bytes: Span<UInt8>, _ frame: Range<Int>, into header: inout WebPHeader
  ) throws(ImageError) -> Bool {
    let start = frame.lowerBound
    guard header.isExtended, frame.count >= 24 else {
      throw ImageError(.decodeError, "The first frame of the WebP file is invalid.")
    }
    guard let left = uint24(bytes, at: start), let top = uint24(bytes, at: start + 3),
      let size = size24(bytes, at: start + 6),
      let chunk = try chunk(bytes, at: start + 16, before: frame.upperBound)
    else { return false }
    (header.left, header.top, header.frameSize) = (2 * left, 2 * top, size)
    guard header.left + size.width <= header.image.storedSize.width,
      header.top + size.height <= header.image.storedSize.height
    else { throw ImageError(.decodeError, "The first frame of the WebP file exceeds the canvas.") }
    guard let isComplete = try readImage(bytes, chunk, before: frame.upperBound, into: &header) else {
      throw ImageError(.decodeError, "The first frame of the WebP file does not begin with image data.")
    }
    if isComplete && !header.fillsCanvas { header.image.layout = .rgba }
    return isComplete
  }

  /// Reads the header of the image in `chunk`. Returns nil if the chunk has no image, and false if more bytes are
  /// needed.
  private func readImage(
    _ bytes: Span<UInt8>, _ chunk: Range<Int>, before end: Int, into header: inout WebPHeader
  ) throws(ImageError) -> Bool? {
    let start = chunk.lowerBound
    header.pixels = start - 8..<end
    if bytes.has("ALPH", at: start - 8), header.isExtended {
      header.image.layout = .rgba
      if header.frameSize.area == 0 { header.frameSize = header.image.storedSize }
      return true
    }
    header.isLossless = bytes.has("VP8L", at: start - 8)
    guard header.isLossless || bytes.has("VP8 ", at: start - 8) else { return nil }
    guard bytes.count >= start + (header.isLossless ? 5 : 10) else { return false }
    let size = header.isLossless ? try readLossless(bytes, start, into: &header) : try lossySize(bytes, start)
    if !header.isExtended { header.image.storedSize = size }
    let expected = header.frameSize.area > 0 ? header.frameSize : header.image.storedSize
    guard size == expected else { throw ImageError(.decodeError, "The WebP file has conflicting sizes.") }
    header.frameSize = size
    try limits.check(header.image.storedSize)
    return true
  }

  /// Returns the size of a VP8 key frame (RFC 6386, section 9.1).
  private func lossySize(_ bytes: Span<UInt8>, _ start: Int) throws(ImageError) -> PixelSize {
    let isKeyFrame = bytes[start] & 1 == 0
    guard isKeyFrame, bytes[start + 3] == 0x9D, bytes[start + 4] == 0x01, bytes[start + 5] == 0x2A,
      let width = bytes.uint16(at: start + 6, .little), let height = bytes.uint16(at: start + 8, .little)
    else { throw ImageError(.decodeError, "The WebP file's VP8 header is invalid.") }
    // The two high bits of each are a hint about scaling.
    return PixelSize(width: width & 0x3FFF, height: height & 0x3FFF)
  }

  /// Returns the size of a VP8L image, and sets the layout (RFC 9649, section 3.4).
  private func readLossless(
    _ bytes: Span<UInt8>, _ start: Int, into header: inout WebPHeader
  ) throws(ImageError) -> PixelSize {
    let bits = bytes.uint32(at: start + 1, .little) ?? 0
    guard bytes[start] == 0x2F, bits >> 29 == 0 else {
      throw ImageError(.decodeError, "The WebP file's VP8L header is invalid.")
    }
    if bits >> 28 & 1 == 1 { header.image.layout = .rgba }
    return PixelSize(width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1)
  }

  /// Returns the size whose sides minus 1 are two 24-bit integers at `offset`; nil if it is not within the bytes.
  private func size24(_ bytes: Span<UInt8>, at offset: Int) -> PixelSize? {
    guard let width = uint24(bytes, at: offset), let height = uint24(bytes, at: offset + 3) else { return nil }
    return PixelSize(width: width + 1, height: height + 1)
  }

  private func uint24(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
    guard let low = bytes.uint16(at: offset, .little), offset + 2 < bytes.count else { return nil }
    return low | Int(bytes[offset + 2]) << 16
  }
}

// MARK: Metadata

extension WebPHeader {
  /// Reads the EXIF chunk after the image data, if there is one.
  mutating func readTrailer(_ bytes: Span<UInt8>) {
    guard isExtended else { return }
    // The range of the first frame of an animation ends with its chunk; that of an image begins with its first chunk.
    var offset = pixels.upperBound == end ? pixels.lowerBound : pixels.upperBound + pixels.upperBound % 2
    while let count = bytes.uint32(at: offset + 4, .little), offset + 8 + count <= min(end, bytes.count) {
      // A file has at most one (RFC 9649, section 2.7.1.5).
      if bytes.has("EXIF", at: offset) {
        return readOrientation(exif: bytes.extracting(offset + 8..<offset + 8 + count))
      }
      offset += 8 + count + count % 2
    }
  }

  /// Reads the orientation from the data of an EXIF chunk. Some writers begin it like the segment of a JPEG file.
  mutating func readOrientation(exif data: Span<UInt8>) {
    image.readOrientation(exif: data.has("Exif\0\0", at: 0) ? data.extracting(6...) : data)
  }

  /// Returns the ICC profile of the file; nil if there is none or, with a warning, if it is too large.
  func profile(in file: Span<UInt8>, warnings: inout [String]) -> [UInt8]? {
    guard let profile else { return nil }
    guard profile.count <= DecodingLimits.maxProfileBytes else {
      warnings.append("ICC profile ignored: it is too large")
      return nil
    }
    return file.extracting(profile).withUnsafeBufferPointer { Array($0) }
  }
}
