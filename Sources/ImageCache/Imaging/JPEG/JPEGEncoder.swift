import CImage

/// Encodes JPEG files.
struct JPEGEncoder: ImageEncoder {
  static let format = OutputFormat.jpeg

  /// The quality, 1 to 100.
  let quality: Int
  let scans: ThumbnailSpec.Scans

  /// Clamps the quality of the spec.
  init(_ spec: ThumbnailSpec) {
    quality = min(max(spec.quality, 1), 100)
    scans = spec.scans
  }

  /// 2 (4:2:0) below a quality of 90, where full chroma costs more than it shows, otherwise 1 (4:4:4).
  var chromaStep: Int { quality < 90 ? 2 : 1 }

  func accepts(_ layout: PixelLayout) -> Bool { !layout.hasAlpha }

  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8] {
    let options = CImageJPEGEncoding(
      quality: Int32(quality), chromaStep: Int32(chromaStep), scans: scans == .progressive ? .progressive : .baseline)
    let (layout, views) = (bitmap.layout, bitmap.planes.map(\.view))
    // A chroma plane never has more samples than the luma plane.
    let capacity = cimage_encoded_bound(views[0]) * views.count
    return try CImageCall.encode(capacity: capacity) { room, count, messages in
      layout == .planes
        ? cimage_jpeg_encode_planes(views, options, room, capacity, count, messages)
        : cimage_jpeg_encode(views[0], options, room, capacity, count, messages)
    }
  }

  /// After SOI and the JFIF header, which always has the same length.
  static let commentOffset = 2 + 18

  /// Returns a comment segment (ITU-T T.81, B.2.4.5).
  static func comment(_ text: String) -> [UInt8] {
    [0xFF, 0xFE, 0, UInt8(truncatingIfNeeded: 2 + text.utf8.count)] + text.utf8
  }
}
