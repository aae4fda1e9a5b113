import CImage

extension SourceFormat {
  /// JPEG (ITU-T T.81).
  public static let jpeg = SourceFormat(rawValue: "jpeg", mediaType: "image/jpeg")
}

extension OutputFormat {
  /// JPEG (ITU-T T.81).
  public static let jpeg = OutputFormat(rawValue: "jpeg", mediaType: "image/jpeg", fileExtension: "jpg")
}

extension JPEGDecoder {
  static let format = SourceFormat.jpeg

  /// SOI and the first byte of another marker.
  static let signatures = [FileSignature([0xFF, 0xD8, 0xFF])]

  static func start(afterGarbageIn window: Span<UInt8>) -> Int? {
    (1..<window.count).first { isStart($0, in: window) }
  }

  /// Returns true if SOI and one of the markers that usually follow it are at `offset`.
  private static func isStart(_ offset: Int, in window: Span<UInt8>) -> Bool {
    offset + 3 < window.count && window[offset] == 0xFF && window[offset + 1] == 0xD8 && window[offset + 2] == 0xFF
      && isFirst(window[offset + 3])
  }

  /// Returns true for the markers that usually follow SOI: DQT, DHT, APP0 to APP15, COM, SOF0, SOF2.
  private static func isFirst(_ marker: UInt8) -> Bool {
    [0xDB, 0xC4, 0xFE, 0xC0, 0xC2].contains(marker) || (0xE0...0xEF).contains(marker)
  }
}

extension JPEGEncoder {
  /// The end of EOI, which follows the last scan (ITU-T T.81, annex B).
  static func end(of file: Span<UInt8>) -> Int? {
    var offset = 2
    while offset + 1 < file.count, file[offset] == 0xFF {
      let code = file[offset + 1]
      if code == 0xD9 { return offset + 2 }
      guard let length = file.uint16(at: offset + 2), length >= 2 else { return nil }
      offset += 2 + length
      if code == 0xDA { offset = endOfScan(file, from: offset) }
    }
    return nil
  }

  /// Returns the offset of the first marker that does not belong to the data of a scan, or the end of the file.
  private static func endOfScan(_ file: Span<UInt8>, from start: Int) -> Int {
    var offset = start
    while offset + 1 < file.count {
      let isMarker = file[offset] == 0xFF && file[offset + 1] != 0 && !(0xD0...0xD7).contains(file[offset + 1])
      if isMarker { return offset }
      offset += 1
    }
    return file.count
  }
}

/// Decodes the first image of a JPEG file.
struct JPEGDecoder: FileDecoder {
  let jpeg: JPEGHeader
  /// The factor by which libjpeg shrinks the image while it decodes the DCT blocks: 1, 2, 4 or 8.
  private(set) var shrink = 1
  /// The form of the decoded samples. If the file's color space is not YCbCr, it is decoded into pixels anyway.
  private(set) var form = DecodingDemand.Form.pixels

  /// The maximum number of scans. Real files have about ten.
  private static let maxScans = 100

  var header: ImageHeader { jpeg.image }

  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder { JPEGEncoder(spec) }

  init(_ jpeg: JPEGHeader) { self.jpeg = jpeg }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let jpeg = try JPEGHeaderReader(limits: limits).read(prefix) else { return nil }
    self.init(jpeg)
  }

  mutating func adapt(to demand: DecodingDemand) {
    form = header.layout == .rgb && !jpeg.isCMYK ? demand.form : .pixels
    shrink = JPEGShrink.factor(for: demand.targets, of: header.storedSize, chromaStretch: jpeg.chromaStretch)
  }

  var decodedSize: PixelSize { header.storedSize.divided(by: shrink, .up) }

  /// A few rows, and the coefficients of a file with several scans, with eight bytes more for each block of 64.
  var peakBytes: Int {
    let rows = decodedSize.width * header.layout.channels * 64
    return rows + (jpeg.keepsCoefficients ? jpeg.coefficientBytes / 16 * 17 : 0)
  }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let transform = try transform(file, colors, warnings: &warnings)
    if form == .planes, try decodePlanes(file, transform, into: sink, warnings: &warnings) { return }
    try decodePixels(file, transform, into: sink, warnings: &warnings)
  }

  /// Returns the transform of the file's ICC profile or, for CMYK without a usable one, of the inks in `colors`.
  private func transform(
    _ file: Span<UInt8>, _ colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    if let own = try ownTransform(file, colors, warnings: &warnings) { return own }
    guard jpeg.isCMYK, let inks = colors.inks else { return nil }
    return try colors.transform(of: .profile(inks.bytes), model: .CMYK, warnings: &warnings)
  }

  /// Returns the transform of the file's ICC profile; nil if there is none or, with a warning, if it is incomplete or
  /// too large.
  private func ownTransform(
    _ file: Span<UInt8>, _ colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    guard !jpeg.profile.isEmpty else { return nil }
    guard let profile = jpeg.profile.assembled(from: file) else {
      warnings.append("ICC profile ignored: it is incomplete or too large")
      return nil
    }
    let model = jpeg.isCMYK ? .CMYK : CImageColorModel(header.layout)
    return try colors.transform(of: .profile(profile), model: model, warnings: &warnings)
  }

  /// Decodes the file into pixels. CMYK is converted to sRGB at once, with ideal inks if there is no transform; other
  /// colors are converted later, in the smaller thumbnails.
  private func decodePixels(
    _ file: Span<UInt8>, _ transform: ColorTransform?, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let inks = jpeg.isCMYK ? transform : nil
    // Leave out a last row or column that is partly computed from the encoder's padding.
    let size = header.storedSize.divided(by: shrink, .down)
    let shown = PixelBox(size: PixelSize(width: size.width * shrink, height: size.height * shrink))
    try sink.begin(
      DecodedShape(
        layout: header.layout, planes: [PlaneShape(size: size, area: shown)], colors: jpeg.isCMYK ? nil : transform))
    let (options, target) = (options(inks: inks), CImageSink(sink))
    // The decoder holds only raw handles. Another thread may evict the transform from the cache while this one decodes;
    // this reference keeps it alive.
    try CImageCall.decode(file, &warnings) { bytes, count, messages in
      withExtendedLifetime((inks, target)) { cimage_jpeg_decode(bytes, count, options, target.pixels, messages) }
    }
  }

  /// Decodes the file into its luma and chroma planes, so that JPEG output needs no color conversion. Returns false if
  /// the file's color space is not YCbCr.
  private func decodePlanes(
    _ file: Span<UInt8>, _ transform: ColorTransform?, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) -> Bool {
    let options = options(inks: nil)
    let target = CImageSink(sink, colors: transform)
    do throws(ImageError) {
      try CImageCall.decode(file, &warnings) { bytes, count, messages in
        withExtendedLifetime(target) {
          cimage_jpeg_decode_planes(bytes, count, options, target.planes, messages)
        }
      }
      return true
    } catch  where error.code == .unsupportedFormat {
      return false
    }
  }

  /// The options as a C structure. libjpeg may allocate twice the coefficients, and 32 MiB for rows and tables.
  private func options(inks: ColorTransform?) -> CImageJPEGDecoding {
    CImageJPEGDecoding(
      width: Int32(header.storedSize.width), height: Int32(header.storedSize.height),
      channels: Int32(header.layout.channels), shrink: Int32(shrink), maxScans: Int32(Self.maxScans),
      maxMemory: (32 << 20) + jpeg.coefficientBytes * 2, cmyk: inks?.handle)
  }
}

/// Chooses the factor by which libjpeg shrinks a JPEG while it decodes the DCT blocks. That is nearly free, but a poor
/// filter.
enum JPEGShrink {
  /// Returns 1, 2, 4 or 8: the largest factor that leaves the final filter at least twice the samples of every
  /// thumbnail, for luma and for chroma. libvips uses the same rule.
  ///
  /// If chroma is sampled `chromaStretch` times more sparsely in one direction than in the other, as in 4:2:2, it is
  /// shrunk by that much more, because libjpeg compensates for sparse chroma in both directions or in neither. The
  /// remainder of `size` divided by the factor is lost, so it must be at most a hundredth of the side.
  static func factor(for targets: [DecodingDemand.Target], of size: PixelSize, chromaStretch: Int = 1) -> Int {
    let luma = targets.map(\.reduction).min() ?? 1
    let chroma = targets.map { $0.reduction * Double($0.chromaStep) }.min() ?? 1
    return [8, 4, 2].first { factor in
      luma >= Double(2 * factor) && chroma >= Double(2 * factor * chromaStretch)
        && size.width % factor * 100 <= size.width && size.height % factor * 100 <= size.height
    } ?? 1
  }
}

/// Encodes JPEG files.
struct JPEGEncoder: ImageEncoder {
  static let format = OutputFormat.jpeg

  /// The quality, 1 to 100.
  let quality: Int
  let scans: ThumbnailSpec.Scans
  private let isLimited: Bool

  /// Clamps the quality of the spec.
  init(_ spec: ThumbnailSpec) {
    quality = min(max(spec.quality, 1), 100)
    scans = spec.scans
    isLimited = spec.maxBytes != nil
  }

  /// 2 (4:2:0) below a quality of 90, where full chroma costs more than it shows, and in files of limited length, whose
  /// quality may have to be lowered; otherwise 1 (4:4:4).
  var chromaStep: Int { quality < 90 || isLimited ? 2 : 1 }

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

  /// Adds APP2 segments, each with a part of the profile (ICC.1:2010, B.4).
  static func declaring(_ colors: FileColors, profile: [UInt8], in file: [UInt8]) -> [UInt8] {
    let (largest, name) = (65_519, Array("ICC_PROFILE\0".utf8))
    let starts = Array(stride(from: 0, to: profile.count, by: largest))
    let segments = zip(1..., starts).flatMap { number, start -> [UInt8] in
      let part = profile[start..<min(start + largest, profile.count)]
      let length = 2 + name.count + 2 + part.count
      return [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + name + [UInt8(number), UInt8(starts.count)] + part
    }
    return file[..<commentOffset] + segments + file[commentOffset...]
  }

  /// Returns a comment segment (ITU-T T.81, B.2.4.5).
  static func comment(_ text: String) -> [UInt8] {
    [0xFF, 0xFE, 0, UInt8(truncatingIfNeeded: 2 + text.utf8.count)] + text.utf8
  }
}
