internal import CDeflate
import CImage

/// Encodes PNG files.
struct PNGEncoder: ImageEncoder {
  static let format = OutputFormat.png

  let chromaStep = 1

  init(_ spec: ThumbnailSpec) {}

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8] {
    let view = bitmap.planes[0].view
    let capacity = cimage_encoded_bound(view)
    return try CImageCall.encode(capacity: capacity) { cimage_png_encode(view, $0, capacity, $1, $2) }
  }

  /// After the header chunk, which comes first and always has the same length.
  static let commentOffset = 8 + 25

  /// Returns a `Software` text chunk (PNG Specification, 11.3.3).
  static func comment(_ text: String) -> [UInt8] {
    let chunk = Array("tEXtSoftware\0".utf8) + text.utf8
    let checksum = chunk.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
    return bigEndian(UInt32(chunk.count - 4)) + chunk + bigEndian(checksum)
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
