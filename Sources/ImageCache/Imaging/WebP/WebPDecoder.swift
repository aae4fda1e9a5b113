#if WebP
  import CImage

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
#endif
