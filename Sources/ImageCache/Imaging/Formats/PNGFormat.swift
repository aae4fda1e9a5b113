internal import CDeflate
import CImage

extension SourceFormat {
  /// PNG (W3C PNG Specification, Third Edition).
  public static let png = SourceFormat(rawValue: "png", mediaType: "image/png")
}

extension OutputFormat {
  /// PNG (W3C PNG Specification, Third Edition).
  public static let png = OutputFormat(rawValue: "png", mediaType: "image/png", fileExtension: "png")
}

extension PNGDecoder {
  static let format = SourceFormat.png

  static let signatures = [FileSignature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])]
}

extension PNGEncoder {
  /// The end of the chunk `IEND` (PNG Specification, section 11.2.5).
  static func end(of file: Span<UInt8>) -> Int? {
    var offset = 8
    while let length = file.uint32(at: offset), length <= file.count - offset - 12 {
      let end = offset + 12 + length
      if file.has("IEND", at: offset + 4) { return end }
      offset = end
    }
    return nil
  }
}

/// Decodes a PNG file.
struct PNGDecoder: FileDecoder {
  private(set) var png: PNGHeader

  var header: ImageHeader { png.image }

  /// Image data of up to 32 MiB is decompressed as a whole, larger images row by row, unless they are interlaced.
  var peakBytes: Int {
    let decoded = header.storedSize.area * header.layout.channels
    return png.isInterlaced ? decoded : min(decoded, 32 << 20) + 16 * header.storedSize.width * 4
  }

  init(_ png: PNGHeader) { self.png = png }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let png = try PNGHeaderReader(limits: limits).read(prefix) else { return nil }
    self.init(png)
  }

  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder { PNGEncoder(spec) }

  mutating func readTrailer(_ file: Span<UInt8>) { PNGHeaderReader.readTrailer(file, into: &png) }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let source = try sourceColors(of: file, warnings: &warnings)
    var transform: ColorTransform?
    if let source {
      let model = CImageColorModel(header.layout)
      transform = try colors.transform(of: source, model: model, warnings: &warnings)
    }
    let whole = PlaneShape(size: header.storedSize, area: PixelBox(size: header.storedSize))
    try sink.begin(DecodedShape(layout: header.layout, planes: [whole], colors: transform))
    let (options, target) = (options(gamma: source == nil ? png.gamma : nil), CImageSink(sink))
    try CImageCall.decode(file, &warnings) { bytes, count, messages in
      withExtendedLifetime(target) { cimage_png_decode(bytes, count, options, target.pixels, messages) }
    }
  }

  /// Returns the colors of the file; nil if they differ from sRGB at most in gamma.
  private func sourceColors(of file: Span<UInt8>, warnings: inout [String]) throws(ImageError) -> SourceColors? {
    if let codePoints = png.codePoints { return .encoding(codePoints) }
    if png.hasProfile, let profile = try profile(of: file, warnings: &warnings) { return .profile(profile) }
    return png.encoding.map { .encoding($0) }
  }

  /// Returns the file's ICC profile; nil, with a warning, if it is damaged or too large.
  private func profile(of file: Span<UInt8>, warnings: inout [String]) throws(ImageError) -> [UInt8]? {
    let capacity = DecodingLimits.maxProfileBytes
    let buffer = try CImageCall.allocate(capacity)
    defer { CImageCall.free(buffer) }
    var room = CImageProfileRoom(bytes: buffer, capacity: capacity, count: 0)
    let options = options(gamma: nil)
    try CImageCall.decode(file, &warnings) { cimage_png_read_profile($0, $1, options, &room, $2) }
    return room.count > 0 ? Array(UnsafeBufferPointer(start: buffer, count: room.count)) : nil
  }

  private func options(gamma: Double?) -> CImagePNGDecoding {
    CImagePNGDecoding(
      width: Int32(header.storedSize.width), height: Int32(header.storedSize.height),
      channels: Int32(header.layout.channels), gamma: gamma ?? 0)
  }
}

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

  /// Adds the chunk `iCCP`, and `cICP` before it if code points say the same (PNG Specification, 11.3.2). A file of
  /// gray levels may not have a profile for RGB; in Display P3, they are those of sRGB.
  static func declaring(_ colors: FileColors, profile: [UInt8], in file: [UInt8]) -> [UInt8] {
    let isGray = file[25] == 0 || file[25] == 4
    let compressed = profile.compressed()
    guard !isGray, !compressed.isEmpty else { return file }
    let codePoints = colors == .displayP3 ? chunk("cICP", [12, 13, 0, 1]) : []
    let declaration = codePoints + chunk("iCCP", Array("ICC\0\0".utf8) + compressed)
    return file[..<commentOffset] + declaration + file[commentOffset...]
  }

  /// Returns a `Software` text chunk (PNG Specification, 11.3.3).
  static func comment(_ text: String) -> [UInt8] { chunk("tEXt", Array("Software\0".utf8) + text.utf8) }

  /// Returns a whole chunk.
  static func chunk(_ type: String, _ contents: [UInt8]) -> [UInt8] {
    let chunk = Array(type.utf8) + contents
    let checksum = chunk.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
    return bigEndian(UInt32(contents.count)) + chunk + bigEndian(checksum)
  }

  /// Returns the bytes of a number.
  static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}

extension [UInt8] {
  /// Returns the bytes in the zlib format (RFC 1950); empty if memory runs out.
  fileprivate func compressed() -> [UInt8] {
    guard let compressor = libdeflate_alloc_compressor(9) else { return [] }
    defer { libdeflate_free_compressor(compressor) }
    let capacity = libdeflate_zlib_compress_bound(compressor, count)
    return [UInt8](unsafeUninitializedCapacity: capacity) { room, written in
      written = libdeflate_zlib_compress(compressor, self, count, room.baseAddress, capacity)
    }
  }
}
