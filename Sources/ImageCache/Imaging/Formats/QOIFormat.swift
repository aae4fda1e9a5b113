import CImage

extension SourceFormat {
  /// QOI (The Quite OK Image Format, specification 1.0).
  public static let qoi = SourceFormat(rawValue: "qoi", mediaType: "image/qoi")
}

/// Decodes a QOI file.
struct QOIDecoder: FileDecoder {
  static let format = SourceFormat.qoi
  static let signatures = [FileSignature(FileSignature.ascii("qoif"))]

  let header: ImageHeader
  private let isLinear: Bool

  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder { PNGEncoder(spec) }
  var peakBytes: Int { header.storedSize.area * header.layout.channels }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let width = prefix.uint32(at: 4), let height = prefix.uint32(at: 8), prefix.count >= 14 else { return nil }
    let size = PixelSize(width: width, height: height)
    try limits.check(size)
    guard (3...4).contains(prefix[12]), prefix[13] <= 1 else {
      throw ImageError(.decodeError, "The QOI file's header is invalid.")
    }
    header = ImageHeader(format: .qoi, storedSize: size, layout: prefix[12] == 4 ? .rgba : .rgb)
    isLinear = prefix[13] == 1
  }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    var transform: ColorTransform?
    if isLinear, let encoding = ColorEncoding(primaries: 1, transfer: 8) {
      transform = try colors.transform(
        of: .encoding(encoding), model: CImageColorModel(header.layout), warnings: &warnings)
    }
    let bitmap = try Bitmap(size: header.storedSize, layout: header.layout)
    bitmap.fill(header.layout.hasAlpha ? 0 : 128)
    var isComplete = false
    bitmap.write { samples in isComplete = QOIReader.read(file, to: &samples, channels: header.layout.channels) }
    try sink.take(whole: bitmap, colors: transform)
    guard isComplete else { throw ImageError(.truncated, "The QOI file ends before its last pixel.") }
  }
}

/// Reads pixels, each of which is like the one before it, like an earlier one, or new.
private struct QOIReader {
  private var color = PixelColor.black
  private var seen = Array(repeating: PixelColor.transparent, count: 64)
  private var offset = 14

  /// Sets all samples. Returns false if the file ends before the last one.
  static func read(_ file: Span<UInt8>, to samples: inout MutableSpan<UInt8>, channels: Int) -> Bool {
    var (reader, target) = (QOIReader(), 0)
    while target < samples.count {
      guard let count = reader.next(file) else { return false }
      for _ in 0..<count where target < samples.count {
        samples.set(reader.color, at: target, channels: channels)
        target += channels
      }
    }
    return true
  }

  /// Reads the next color. Returns the number of its pixels; nil at the end of the file.
  private mutating func next(_ file: Span<UInt8>) -> Int? {
    guard offset < file.count else { return nil }
    let tag = file[offset]
    let length = tag == 0xFF ? 5 : tag == 0xFE ? 4 : tag >> 6 == 2 ? 2 : 1
    guard offset + length <= file.count else { return nil }
    defer { offset += length }
    switch tag {
    case 0xFF, 0xFE:
      (color.red, color.green, color.blue) = (file[offset + 1], file[offset + 2], file[offset + 3])
      if tag == 0xFF { color.alpha = file[offset + 4] }
    case 0xC0...: return Int(tag & 63) + 1
    case 0x80...: addLuma(tag & 63, file[offset + 1])
    case 0x40...: add(tag >> 4 & 3, tag >> 2 & 3, tag & 3, less: 2)
    default: color = seen[Int(tag)]
    }
    seen[place] = color
    return 1
  }

  /// Adds a difference of green, and those of red and blue from it.
  private mutating func addLuma(_ green: UInt8, _ others: UInt8) {
    add(green &+ others >> 4 &- 8, green, green &+ others & 15 &- 8, less: 32)
  }

  private mutating func add(_ red: UInt8, _ green: UInt8, _ blue: UInt8, less bias: UInt8) {
    color.red = color.red &+ red &- bias
    color.green = color.green &+ green &- bias
    color.blue = color.blue &+ blue &- bias
  }

  /// The place of a color among the seen ones.
  private var place: Int {
    (Int(color.red) * 3 + Int(color.green) * 5 + Int(color.blue) * 7 + Int(color.alpha) * 11) % 64
  }
}
