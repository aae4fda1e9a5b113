extension SourceFormat {
  /// GIF (CompuServe, versions 87a and 89a).
  public static let gif = SourceFormat(rawValue: "gif", mediaType: "image/gif")
}

extension GIFDecoder {
  static let format = SourceFormat.gif

  static let signatures = [FileSignature(FileSignature.ascii("GIF87a")), FileSignature(FileSignature.ascii("GIF89a"))]
}

/// Decodes the first frame of a GIF file, on a transparent canvas.
///
/// The other frames are only walked over, to find out if the file is truncated.
struct GIFDecoder: FileDecoder {
  let gif: GIFHeader

  var header: ImageHeader { gif.image }
  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder { PNGEncoder(spec) }
  var peakBytes: Int { header.storedSize.area * header.layout.channels }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let gif = try GIFHeaderReader(limits: limits).read(prefix) else { return nil }
    self.gif = gif
  }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let bitmap = try Bitmap(size: header.storedSize, layout: header.layout)
    // Shows where the frame does not cover the canvas, or where its data is missing.
    bitmap.fill(header.layout.hasAlpha ? 0 : 128)
    var outcome = Result<Int, ImageError>.success(0)
    bitmap.write { samples in
      outcome = Result { () throws(ImageError) in
        try gif.frame.paint(
          file, canvasWidth: header.storedSize.width, channels: header.layout.channels, on: &samples)
      }
    }
    try sink.take(whole: bitmap)
    try judge(GIFBlock.ending(of: file, from: outcome.get()), warnings: &warnings)
  }

  private func judge(_ ending: GIFBlock.Ending, warnings: inout [String]) throws(ImageError) {
    switch ending {
    case .complete: break
    case .missingTrailer: warnings.append("the GIF file ends before its trailer")
    case .garbage: warnings.append("ignored garbage after the first frame of the GIF file")
    case .truncated: throw GIFCodeReader.truncated
    }
  }
}

extension GIFFrame {
  /// Decodes the frame onto a canvas, and returns the offset after its data. Where the frame is transparent, the canvas
  /// stays as it is.
  func paint(
    _ file: Span<UInt8>, canvasWidth: Int, channels: Int, on samples: inout MutableSpan<UInt8>
  ) throws(ImageError) -> Int {
    let bits = Int(file[dataStart])
    guard (1...11).contains(bits) else {
      throw ImageError(.decodeError, "The GIF file's code size is invalid (\(bits)).")
    }
    var painter = GIFPainter(self, canvasWidth: canvasWidth, channels: channels, colors: palette(file))
    var table = LZWTable(bits: bits)
    var reader = GIFCodeReader(start: dataStart + 1)
    while !painter.isComplete {
      guard let code = try reader.next(table.width, from: file), code != table.endCode else {
        throw ImageError(.decodeError, "The GIF file's image data ends before the last pixel.")
      }
      if code == table.clearCode {
        table.clear()
      } else if let count = table.expand(code) {
        painter.place(table.string, count: count, on: &samples)
      } else {
        throw ImageError(.decodeError, "The GIF file's image data has an invalid code.")
      }
    }
    return try reader.end(in: file)
  }

  /// Returns 256 colors: shades of gray if the file has no color table, black after the end of a short one.
  private func palette(_ file: Span<UInt8>) -> [PixelColor] {
    let colors = (0...255).map { index in
      guard let table = palette else {
        let shade = UInt8(index)
        return PixelColor(red: shade, green: shade, blue: shade)
      }
      let offset = table.lowerBound + 3 * index
      guard offset < table.upperBound else { return .black }
      return PixelColor(red: file[offset], green: file[offset + 1], blue: file[offset + 2])
    }
    return colors
  }
}

/// Places the pixels of a frame on its canvas, in the order in which the file stores them.
private struct GIFPainter {
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

  /// Creates a painter for a frame that lies within a canvas, with 256 colors.
  init(_ frame: GIFFrame, canvasWidth: Int, channels: Int, colors: [PixelColor]) {
    self.frame = frame
    self.canvasWidth = canvasWidth
    self.channels = channels
    self.colors = colors
    offset = (frame.top * canvasWidth + frame.left) * channels
  }

  /// Places the first `count` indices. Those after the last pixel are ignored.
  mutating func place(_ indices: [UInt8], count: Int, on samples: inout MutableSpan<UInt8>) {
    for index in 0..<count where !isComplete {
      let color = Int(indices[index])
      if color != frame.transparentIndex { samples.set(colors[color], at: offset, channels: channels) }
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

/// Reads codes of 1 to 12 bits from the sub-blocks of a frame (GIF89a, appendix F).
private struct GIFCodeReader {
  /// The offset of the next byte.
  private var offset: Int
  /// The end of the present sub-block.
  private var blockEnd: Int
  private var isTerminated = false
  /// The bits that are read but not part of a code yet, the next one lowest.
  private var bits: UInt32 = 0
  private var count: UInt32 = 0

  /// Creates a reader for the sub-blocks at `start`.
  init(start: Int) { (offset, blockEnd) = (start, start) }

  /// Returns the next code; nil if the sub-blocks end before it. Throws `truncated` if the file does.
  mutating func next(_ width: UInt32, from bytes: Span<UInt8>) throws(ImageError) -> Int? {
    while count < width {
      guard let byte = try nextByte(bytes) else { return nil }
      bits |= UInt32(byte) << count
      count += 8
    }
    let code = bits & (1 << width - 1)
    bits >>= width
    count -= width
    return Int(code)
  }

  /// Returns the offset after the terminator, without reading the rest. Throws `truncated` if it is missing.
  func end(in bytes: Span<UInt8>) throws(ImageError) -> Int {
    if isTerminated { return offset }
    guard let end = GIFBlock.end(ofDataAt: blockEnd, in: bytes) else { throw Self.truncated }
    return end
  }

  private mutating func nextByte(_ bytes: Span<UInt8>) throws(ImageError) -> UInt8? {
    if offset == blockEnd {
      if isTerminated { return nil }
      guard offset < bytes.count else { throw Self.truncated }
      let length = Int(bytes[offset])
      isTerminated = length == 0
      offset += 1
      blockEnd = offset + length
      if isTerminated { return nil }
    }
    guard offset < bytes.count else { throw Self.truncated }
    defer { offset += 1 }
    return bytes[offset]
  }

  static let truncated = ImageError(.truncated, "The GIF file ends before its image data does.")
}

/// The table of an LZW decoder: strings of color indices by code (GIF89a, appendix F). A plain value.
private struct LZWTable {
  /// The maximum number of codes. A full table stays as it is until it is cleared.
  private static let capacity = 4096

  /// The code that clears the table.
  let clearCode: Int
  /// The code that ends the data.
  var endCode: Int { clearCode + 1 }
  /// The number of bits of the next code.
  private(set) var width: UInt32
  /// The indices of the last code, followed by undefined ones.
  private(set) var string = Array(repeating: UInt8(0), count: capacity)

  private let firstWidth: UInt32
  private var count: Int
  private var previous: Int?
  // Each string is another one and a last index.
  private var prefixes = Array(repeating: UInt16(0), count: capacity)
  private var lasts: [UInt8]
  private var firsts: [UInt8]
  private var lengths = Array(repeating: UInt16(1), count: capacity)

  /// Creates a table for indices of `bits` bits, 1 to 11.
  init(bits: Int) {
    clearCode = 1 << bits
    count = clearCode + 2
    firstWidth = UInt32(bits + 1)
    width = firstWidth
    lasts = (0..<Self.capacity).map { UInt8(truncatingIfNeeded: $0) }
    firsts = lasts
  }

  /// Forgets all strings of more than one index.
  mutating func clear() {
    count = clearCode + 2
    width = firstWidth
    previous = nil
  }

  /// Sets ``string`` to the indices of `code`, which is neither ``clearCode`` nor ``endCode``, and adds the next string
  /// to the table. Returns the number of indices; nil if the table has no such code.
  mutating func expand(_ code: Int) -> Int? {
    guard let previous else {
      guard code < clearCode else { return nil }
      self.previous = code
      string[0] = lasts[code]
      return 1
    }
    guard code < count || code == count && count < Self.capacity else { return nil }
    if count < Self.capacity { add(previous, then: firsts[code == count ? previous : code]) }
    self.previous = code
    return spell(code)
  }

  private mutating func add(_ prefix: Int, then last: UInt8) {
    prefixes[count] = UInt16(prefix)
    lasts[count] = last
    firsts[count] = firsts[prefix]
    lengths[count] = lengths[prefix] + 1
    count += 1
    if count == 1 << width && count < Self.capacity { width += 1 }
  }

  /// Sets ``string``, from the last index to the first.
  private mutating func spell(_ code: Int) -> Int {
    let length = Int(lengths[code])
    var (next, index) = (code, length - 1)
    while index >= 0 {
      string[index] = lasts[next]
      next = Int(prefixes[next])
      index -= 1
    }
    return length
  }
}
