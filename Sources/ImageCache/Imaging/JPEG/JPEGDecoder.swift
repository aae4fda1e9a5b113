import CImage

extension Bitmap {
  /// The options for decoding a JPEG file.
  struct JPEGDecoding {
    var header: ImageHeader
    /// The factor by which the decoder shrinks the image: 1, 2, 4 or 8.
    var shrink: Int
    /// The maximum number of bytes that libjpeg may allocate.
    var memoryLimit: Int
    /// Converts CMYK to RGB. If nil, inks are assumed to be ideal.
    var inks: ColorTransform?
  }

  /// Decodes the first image of a JPEG file into pixels.
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
      // The decoder holds only the raw handle. Another thread may evict the transform from the cache while this one
      // decodes; this reference keeps it alive.
      try CImageCall.run(&warnings) { messages in
        withExtendedLifetime(decoding.inks) { cimage_jpeg_decode(bytes, bytes.count, options, view, messages) }
      }
      // Leave out a last row or column that is partly computed from the encoder's padding.
      let readable = header.storedSize.divided(by: shrink, .down)
      let area = PixelBox(size: PixelSize(width: readable.width * shrink, height: readable.height * shrink))
      return [
        Plane(samples: memory, size: readable, channels: header.layout.channels, stride: stride, area: area)
      ]
    }
  }

  /// Decodes the first image of a JPEG file into its luma and chroma planes, so that JPEG output needs no color
  /// conversion. Returns nil if the file's color space is not YCbCr.
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

  /// Encodes a bitmap without alpha as a JPEG file. `quality` is clamped to 1 to 100.
  func encodedJPEG(quality: Int, scans: ThumbnailSpec.Scans) throws(ImageError) -> [UInt8] {
    let quality = min(max(quality, 1), 100)
    let options = CImageJPEGEncoding(
      quality: Int32(quality), chromaStep: Int32(ThumbnailSpec.chromaStep(quality: quality)),
      scans: scans == .progressive ? .progressive : .baseline)
    let views = planes.map(\.view)
    // A chroma plane never has more samples than the luma plane.
    let capacity = cimage_encoded_bound(views[0]) * views.count
    return try CImageCall.encode(capacity: capacity) { room, count, messages in
      layout == .planes
        ? cimage_jpeg_encode_planes(views, options, room, capacity, count, messages)
        : cimage_jpeg_encode(views[0], options, room, capacity, count, messages)
    }
  }
}

extension Bitmap.JPEGDecoding {
  /// The options as a C structure.
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
