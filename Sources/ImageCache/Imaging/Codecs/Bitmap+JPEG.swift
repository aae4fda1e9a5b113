import CImage

extension Bitmap {
  /// What a JPEG file is decoded with.
  struct JPEGDecoding {
    var header: ImageHeader
    /// 1, 2, 4 or 8: the picture is made this much smaller on the way.
    var shrink: Int
    /// The most bytes that libjpeg may hold.
    var memoryLimit: Int
    /// Turns CMYK into RGB; without one, inks are taken as ideal.
    var inks: ColorTransform?
  }

  /// Decodes the first picture of a JPEG file into pixels.
  static func decodingJPEG(
    _ bytes: [UInt8], _ decoding: JPEGDecoding, warnings: inout [String]
  ) throws(ImageError) -> Bitmap {
    let (header, shrink) = (decoding.header, decoding.shrink)
    let size = header.storedSize.divided(by: shrink, .up)
    let options = decoding.options
    let stride = size.width * header.layout.channels
    return try Bitmap(layout: header.layout, capacity: size.height * stride) { memory throws(ImageError) in
      let view = CImageBitmap(
        pixels: memory, width: Int32(size.width), height: Int32(size.height), channels: Int32(header.layout.channels),
        stride: stride)
      // Another thread may drop the transform from its cache meanwhile.
      try CImageCall.run(&warnings) { messages in
        withExtendedLifetime(decoding.inks) { cimage_jpeg_decode(bytes, bytes.count, options, view, messages) }
      }
      // The last row and column may be made in part of what the encoder padded the picture with: left out.
      let readable = header.storedSize.divided(by: shrink, .down)
      let area = PixelBox(size: PixelSize(width: readable.width * shrink, height: readable.height * shrink))
      return [
        Plane(samples: memory, size: readable, channels: header.layout.channels, stride: stride, area: area)
      ]
    }
  }

  /// Decodes the first picture of a JPEG file into planes as they are kept there: what becomes a JPEG file again needs
  /// no other colours on the way. Nil where the file keeps its colours otherwise.
  static func decodingJPEGPlanes(
    _ bytes: [UInt8], _ decoding: JPEGDecoding, warnings: inout [String]
  ) throws(ImageError) -> Bitmap? {
    let options = decoding.options
    do throws(ImageError) {
      return try Bitmap(layout: .planes, capacity: cimage_jpeg_planes_bound(options)) { memory throws(ImageError) in
        var planes = Array(repeating: CImagePlane(), count: 3)
        try CImageCall.run(&warnings) { cimage_jpeg_decode_planes(bytes, bytes.count, options, memory, &planes, $0) }
        return planes.map(Plane.init)
      }
    } catch  where error.code == .unsupportedFormat {
      return nil
    }
  }

  /// The file of a bitmap without alpha. `quality` is 1 to 100.
  func encodedJPEG(quality: Int, scans: ThumbnailSpec.Scans) throws(ImageError) -> [UInt8] {
    let quality = min(max(quality, 1), 100)
    let options = CImageJPEGEncoding(
      quality: Int32(quality), chromaStep: Int32(ThumbnailSpec.chromaStep(quality: quality)),
      scans: scans == .progressive ? .progressive : .baseline)
    let views = planes.map(\.view)
    // No plane of chroma has more samples than that of luma.
    let capacity = cimage_encoded_bound(views[0]) * views.count
    return try CImageCall.encode(capacity: capacity) { room, count, messages in
      layout == .planes
        ? cimage_jpeg_encode_planes(views, options, room, capacity, count, messages)
        : cimage_jpeg_encode(views[0], options, room, capacity, count, messages)
    }
  }
}

extension Bitmap.JPEGDecoding {
  /// The same, as C sees it.
  fileprivate var options: CImageJPEGDecoding {
    CImageJPEGDecoding(
      width: Int32(header.storedSize.width), height: Int32(header.storedSize.height), shrink: Int32(shrink),
      start: header.start, maxScans: 100, maxMemory: memoryLimit, cmyk: inks?.handle)
  }
}

extension Plane {
  fileprivate init(_ plane: CImagePlane) {
    let size = PixelSize(width: Int(plane.samples.width), height: Int(plane.samples.height))
    self.init(
      samples: plane.samples.pixels, size: size, channels: 1, stride: plane.samples.stride,
      area: PixelBox(
        left: 0, top: 0, right: Double(size.width) * plane.stepAcross, bottom: Double(size.height) * plane.stepDown))
  }
}
