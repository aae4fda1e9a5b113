#if WebP
  import CImage

  /// Encodes a thumbnail as WebP and as JPEG or PNG, and returns the smaller file.
  struct SmallestEncoder: ThumbnailEncoder {
    private let jpeg: JPEGEncoder
    private let png: PNGEncoder
    private let webp: WebPEncoder

    init(_ spec: ThumbnailSpec) {
      jpeg = JPEGEncoder(spec)
      png = PNGEncoder(spec)
      webp = WebPEncoder(spec)
    }

    var chromaStep: Int { jpeg.chromaStep }

    func peakBytes(forPixels count: Int) -> Int { webp.peakBytes(forPixels: count) }

    func accepts(_ layout: PixelLayout) -> Bool { webp.accepts(layout) }

    /// The alternative to WebP is JPEG for photos, otherwise PNG. If both files have the same size, it is returned.
    func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
      let candidate = try webp.file(of: bitmap)
      let other = bitmap.content == .photo ? try jpeg.file(of: bitmap.withoutAlpha()) : try png.file(of: bitmap)
      return candidate.bytes.count < other.bytes.count ? candidate : other
    }
  }

  extension Bitmap {
    /// Returns a copy of an opaque image without its alpha channel.
    fileprivate borrowing func withoutAlpha() throws(ImageError) -> Bitmap {
      let copy = try Bitmap(size: size, layout: layout.withoutAlpha)
      copy.draw(self, left: 0, top: 0, light: .perceptual)
      return copy
    }
  }
#endif
