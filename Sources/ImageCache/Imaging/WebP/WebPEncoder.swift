#if WebP
  import CImage

  /// Encodes WebP files: photos with losses, drawings without, and cutouts in the way that makes the file smaller.
  struct WebPEncoder: ImageEncoder {
    static let format = OutputFormat.webp

    /// The quality, 1 to 100, on the scale of JPEG.
    let quality: Int
    /// True if every file is lossless.
    let isLossless: Bool

    init(_ spec: ThumbnailSpec) { self.init(spec, isLossless: false) }

    /// Clamps the quality of the spec.
    init(_ spec: ThumbnailSpec, isLossless: Bool) {
      quality = min(max(spec.quality, 1), 100)
      self.isLossless = isLossless
    }

    /// Lossy WebP always has 4:2:0 chroma.
    var chromaStep: Int { isLossless ? 1 : 2 }

    /// Measured: 6 to 45 bytes per pixel with losses, 13 to 97 without, and up to 1 MiB for tables.
    func peakBytes(forPixels count: Int) -> Int { (1 << 20) + count * 100 }

    func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

    /// Throws `badSpec` if a side is longer than WebP allows.
    func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8] {
      guard max(bitmap.size.width, bitmap.size.height) <= ThumbnailSpec.longestWebPSide else {
        throw ImageError(.badSpec, ThumbnailSpec.tooLongForWebP(bitmap.size))
      }
      switch isLossless ? .drawing : bitmap.content {
      case .drawing: return try encode(bitmap, losslessly: true)
      case .photo: return try encode(bitmap, losslessly: false)
      case .cutout:
        let lossy = try encode(bitmap, losslessly: false)
        let lossless = try encode(bitmap, losslessly: true)
        return lossy.count < lossless.count ? lossy : lossless
      }
    }

    private func encode(_ bitmap: borrowing Bitmap, losslessly isLossless: Bool) throws(ImageError) -> [UInt8] {
      let view = bitmap.planes[0].view
      let options = CImageWebPEncoding(quality: WebPQuality.factor(for: quality), isLossless: isLossless ? 1 : 0)
      let capacity = cimage_encoded_bound(view)
      return try CImageCall.encode(capacity: capacity) { cimage_webp_encode(view, options, $0, capacity, $1, $2) }
    }

    /// After the RIFF header and the VP8X chunk.
    static let commentOffset = 12 + 18

    /// Returns a chunk of an unknown type, which readers ignore (RFC 9649, section 2.7.1.6).
    static func comment(_ text: String) -> [UInt8] {
      let count = UInt8(truncatingIfNeeded: text.utf8.count)
      return Array("NOTE".utf8) + [count, 0, 0, 0] + text.utf8 + Array(repeating: 0, count: text.utf8.count % 2)
    }

    /// Adds to the size in the RIFF header.
    static func lengthen(_ head: inout [UInt8], by count: Int) {
      guard let size = head.span.uint32(at: 4, .little) else { return }
      for index in 0..<4 { head[4 + index] = UInt8(truncatingIfNeeded: (size + count) >> (8 * index)) }
    }
  }
#endif
