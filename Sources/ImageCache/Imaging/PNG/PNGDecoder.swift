import CImage

/// Decodes a PNG file.
struct PNGDecoder: ImageDecoder {
  private(set) var png: PNGHeader

  var header: ImageHeader { png.image }
  var automaticEncoder: any ImageEncoder.Type { PNGEncoder.self }
  var peakBytes: Int { header.storedSize.area * header.layout.channels }

  init(_ png: PNGHeader) { self.png = png }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let png = try PNGHeaderReader(limits: limits).read(prefix) else { return nil }
    self.init(png)
  }

  mutating func readTrailer(_ file: Span<UInt8>) { PNGHeaderReader.readTrailer(file, into: &png) }

  /// Does nothing: a PNG file is always decoded at full size.
  mutating func adapt(to demand: DecodingDemand) {}

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> DecodedPixels {
    var profile: [UInt8]?
    let bitmap = try pixels(file, profile: &profile, warnings: &warnings)
    guard let profile else { return DecodedPixels(bitmap: bitmap, colors: nil) }
    let model = CImageColorModel(header.layout)
    return DecodedPixels(
      bitmap: bitmap, colors: try colors.transform(of: profile, model: model, warnings: &warnings))
  }

  /// Decodes the pixels and sets `profile` to the file's ICC profile, or to nil if it has none.
  private func pixels(
    _ file: Span<UInt8>, profile: inout [UInt8]?, warnings: inout [String]
  ) throws(ImageError) -> Bitmap {
    let bitmap = try Bitmap(size: header.storedSize, layout: header.layout)
    let capacity = png.hasProfile ? DecodingLimits.maxProfileBytes : 0
    let buffer = try CImageCall.allocate(capacity)
    defer { CImageCall.free(buffer) }
    var room = CImageProfileRoom(bytes: capacity > 0 ? buffer : nil, capacity: capacity, count: 0)
    let view = bitmap.planes[0].view
    try CImageCall.decode(file, &warnings) { cimage_png_decode($0, $1, view, &room, $2) }
    profile = room.count > 0 ? Array(UnsafeBufferPointer(start: buffer, count: room.count)) : nil
    return bitmap
  }
}
