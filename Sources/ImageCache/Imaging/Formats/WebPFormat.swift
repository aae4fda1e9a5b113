#if WebP
  import CImage
#endif

extension SourceFormat {
  /// WebP (RFC 9649). Part of ``all`` only with the package trait `WebP`, which is on by default.
  public static let webp = SourceFormat(rawValue: "webp", mediaType: "image/webp")
}

extension OutputFormat {
  /// WebP (RFC 9649). Part of ``all`` only with the package trait `WebP`, which is on by default.
  public static let webp = OutputFormat(rawValue: "webp", mediaType: "image/webp", fileExtension: "webp")
}

#if WebP
  extension WebPDecoder {
    static let format = SourceFormat.webp

    static let signatures = [
      FileSignature(FileSignature.ascii("RIFF") + FileSignature.any(4) + FileSignature.ascii("WEBP"))
    ]
  }

  extension WebPEncoder {
    /// The end of the last chunk, which must be that of the RIFF header (RFC 9649, section 2.4).
    static func end(of file: Span<UInt8>) -> Int? {
      guard let size = file.uint32(at: 4, .little), 8 + size <= file.count else { return nil }
      var offset = 12
      while offset < 8 + size, let length = file.uint32(at: offset + 4, .little) { offset += 8 + length + length % 2 }
      return offset == 8 + size ? offset : nil
    }
  }

  /// Decodes a WebP file, or the first frame of an animated one.
  struct WebPDecoder: FileDecoder {
    private(set) var webp: WebPHeader
    /// The factor by which libwebp shrinks the image while it decodes it.
    private(set) var shrink = 1

    var header: ImageHeader { webp.image }
    func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder {
      WebPEncoder(spec, isLossless: webp.isLossless)
    }

    init(_ webp: WebPHeader) { self.webp = webp }

    init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
      guard let webp = try WebPHeaderReader(limits: limits).read(prefix) else { return nil }
      self.init(webp)
    }

    mutating func readTrailer(_ file: Span<UInt8>) { webp.readTrailer(file) }

    /// Shrinks lossy images without alpha, so that the final filter has at least twice the samples of every thumbnail.
    /// libwebp averages areas, so the factor need not divide the size. A factor of 2 saves no time, 3 saves an eighth
    /// and 12 a third; at 1600 pixels, thumbnails differ by 49 dB or more.
    mutating func adapt(to demand: DecodingDemand) {
      let isShrinkable = !webp.isLossless && !header.layout.hasAlpha && webp.fillsCanvas
      let reduction = demand.targets.map(\.reduction).min() ?? 1
      let factor = Int(min(reduction / 2, 64))
      shrink = isShrinkable && factor >= 3 ? factor : 1
    }

    var decodedSize: PixelSize { header.storedSize.divided(by: shrink, .up) }

    /// The pixels, and what libwebp takes: tables and some rows, for lossless files a copy of all pixels, and for lossy
    /// ones with alpha its plane and the pixels it is decoded from. Measured: 4.1 to 4.8 bytes per pixel without loss,
    /// 6.3 with alpha, 130 per column otherwise.
    var peakBytes: Int {
      let decoded = decodedSize.area * header.layout.channels
      let kept = webp.isLossless ? 5 : header.layout.hasAlpha ? 7 : 0
      return decoded + (256 << 10) + webp.frameSize.width * 256 + webp.frameSize.area * kept
    }

    func decode(
      _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
    ) throws(ImageError) {
      var transform: ColorTransform?
      if let profile = webp.profile(in: file, warnings: &warnings) {
        let model = CImageColorModel(header.layout)
        transform = try colors.transform(of: .profile(profile), model: model, warnings: &warnings)
      }
      let shape = PlaneShape(size: decodedSize, area: PixelBox(size: header.storedSize))
      let bitmap = try Bitmap(layout: header.layout, planes: [shape])
      var failure: ImageError?
      do throws(ImageError) {
        try decode(file, to: bitmap, warnings: &warnings)
      } catch {
        failure = error
      }
      try sink.take(whole: bitmap, colors: transform)
      guard file.count >= webp.end else {
        throw ImageError(.truncated, "The image data is truncated: \(file.count) of \(webp.end) bytes.")
      }
      if let failure { throw failure }
    }

    /// Decodes the image, or the first frame onto a transparent canvas.
    private func decode(
      _ file: Span<UInt8>, to bitmap: borrowing Bitmap, warnings: inout [String]
    ) throws(ImageError) {
      // Shows where the frame does not cover the canvas, or where its data is missing.
      bitmap.fill(header.layout.hasAlpha ? 0 : 128)
      var view = bitmap.planes[0].view
      if !webp.fillsCanvas {
        view.pixels += webp.top * view.stride + webp.left * Int(view.channels)
        (view.width, view.height) = (Int32(webp.frameSize.width), Int32(webp.frameSize.height))
      }
      let (target, frame) = (view, webp.frameSize)
      let pixels = file.extracting(webp.pixels.clamped(to: file.indices))
      try CImageCall.decode(pixels, &warnings) {
        cimage_webp_decode($0, $1, Int32(frame.width), Int32(frame.height), target, $2)
      }
    }
  }

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

    /// Adds the chunk `ICCP`, and its flag in the chunk `VP8X` (RFC 9649, section 2.7.1.4).
    static func declaring(_ colors: FileColors, profile: [UInt8], in file: [UInt8]) -> [UInt8] {
      let size = (0..<4).map { UInt8(truncatingIfNeeded: profile.count >> (8 * $0)) }
      let chunk = Array("ICCP".utf8) + size + profile + Array(repeating: 0, count: profile.count % 2)
      var head = Array(file[..<commentOffset])
      head[20] |= 0x20
      lengthen(&head, by: chunk.count)
      return head + chunk + file[commentOffset...]
    }

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
    func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
      let candidate = try webp.file(of: bitmap, colors: colors)
      let other =
        bitmap.content == .photo
        ? try jpeg.file(of: bitmap.withoutAlpha(), colors: colors) : try png.file(of: bitmap, colors: colors)
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

  /// Converts the quality of JPEG to that of libwebp.
  enum WebPQuality {
    /// The quality of JPEG, and that of libwebp with the same mean structural similarity of luma, over photos at 256
    /// and 512 pixels; the ratio of the sizes is in the documentation of formats. Measured by
    /// `Benchmarks/quality/match.py`.
    private static let table: [(jpeg: Float, webp: Float)] = [
      (1, 0), (10, 2), (20, 15), (30, 29), (40, 41), (50, 51), (60, 63), (70, 75), (75, 79), (82, 84), (85, 86.5),
      (89, 90), (90, 91), (93, 95), (95, 99), (100, 100),
    ]

    /// Returns the quality for libwebp, 0 to 100, which rises with `quality`, 1 to 100.
    static func factor(for quality: Int) -> Float {
      let quality = Float(quality)
      for (low, high) in zip(table, table.dropFirst()) where quality <= high.jpeg {
        return low.webp + (high.webp - low.webp) * (max(quality, low.jpeg) - low.jpeg) / (high.jpeg - low.jpeg)
      }
      return 100
    }
  }
#endif
