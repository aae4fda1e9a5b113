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
      outcome = Result { () throws(ImageError) in try paint(file, on: &samples) }
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

  /// Decodes the frame, and returns the offset after its data.
  private func paint(_ file: Span<UInt8>, on samples: inout MutableSpan<UInt8>) throws(ImageError) -> Int {
    let bits = Int(file[gif.frame.dataStart])
    guard (1...11).contains(bits) else {
      throw ImageError(.decodeError, "The GIF file's code size is invalid (\(bits)).")
    }
    var painter = GIFPainter(gif, colors: palette(file))
    var table = LZWTable(bits: bits)
    var reader = GIFCodeReader(start: gif.frame.dataStart + 1)
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
    var colors = (0...255).map { index in
      guard let table = gif.frame.palette else {
        let shade = UInt8(index)
        return PixelColor(red: shade, green: shade, blue: shade)
      }
      let offset = table.lowerBound + 3 * index
      guard offset < table.upperBound else { return .black }
      return PixelColor(red: file[offset], green: file[offset + 1], blue: file[offset + 2])
    }
    if let index = gif.frame.transparentIndex { colors[index] = .transparent }
    return colors
  }
}
