extension SourceFormat {
  /// PBM, PGM and PPM (Netpbm), with binary samples.
  public static let pnm = SourceFormat(rawValue: "pnm", mediaType: "image/x-portable-anymap")
}

/// Decodes a PBM, PGM or PPM file with binary samples, of which it reads the first image.
///
/// Its colors are taken for sRGB, as other programs do.
struct PNMDecoder: FileDecoder {
  static let format = SourceFormat.pnm
  /// The type, and white space. The forms with decimal samples, `P1` to `P3`, look like any text.
  static let signatures = "456".flatMap { type in
    [" ", "\t", "\r", "\n"].map { FileSignature(FileSignature.ascii("P\(type)\($0)")) }
  }

  let header: ImageHeader
  private let start: Int
  /// The maximum value of a sample, and its number of bits: 1, 8 or 16.
  private let (maximum, bits): (Int, Int)

  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder {
    bits == 1 ? PNGEncoder(spec) : JPEGEncoder(spec)
  }

  var peakBytes: Int { header.storedSize.area * header.layout.channels }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    var reader = PNMHeaderReader()
    let isBitmap = prefix[1] == UInt8(ascii: "4")
    guard let width = try reader.number(prefix), let height = try reader.number(prefix),
      let maximum = isBitmap ? 1 : try reader.number(prefix)
    else { return nil }
    let size = PixelSize(width: width, height: height)
    try limits.check(size)
    guard (1...65535).contains(maximum) else { throw PNMHeaderReader.invalid }
    header = ImageHeader(format: .pnm, storedSize: size, layout: prefix[1] == UInt8(ascii: "6") ? .rgb : .gray)
    (start, self.maximum, bits) = (reader.offset, maximum, isBitmap ? 1 : maximum > 255 ? 16 : 8)
  }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let bitmap = try Bitmap(size: header.storedSize, layout: header.layout)
    bitmap.fill(128 as UInt8)
    bitmap.write { samples in
      let width = header.storedSize.width * header.layout.channels
      for row in 0..<header.storedSize.height { read(row, width, file, to: &samples) }
    }
    try sink.take(whole: bitmap)
    guard file.count >= start + header.storedSize.height * rowBytes else {
      throw ImageError(.truncated, "The PNM file ends before its last pixel.")
    }
  }

  private var rowBytes: Int { (header.storedSize.width * header.layout.channels * bits + 7) / 8 }

  /// Sets the samples of a row that are in the file.
  private func read(_ row: Int, _ width: Int, _ file: Span<UInt8>, to samples: inout MutableSpan<UInt8>) {
    let first = start + row * rowBytes
    for column in 0..<width {
      let place = first + column * bits / 8
      guard place + (bits + 7) / 8 <= file.count else { return }
      samples[row * width + column] =
        switch bits {
        // In a bitmap, 1 is black.
        case 1: file[place] >> (7 - column % 8) & 1 == 1 ? 0 : 255
        case 8: scaled(Int(file[place]))
        default: scaled(Int(file[place]) << 8 | Int(file[place + 1]))
        }
    }
  }

  private func scaled(_ sample: Int) -> UInt8 {
    UInt8(min(255, (sample * 255 + maximum / 2) / maximum))
  }
}

/// Reads the decimal numbers of the header, between which are white space and comments.
private struct PNMHeaderReader {
  private(set) var offset = 2

  /// The maximum length of a header. Programs write their name or the date as a comment.
  private static let longest = 4096

  /// The error for other text that begins like a file.
  static let invalid = ImageError(.notAnImage, "The file is text, or a PNM file with an invalid header.")

  /// Reads a number and one character after it. Returns nil if the prefix ends before that.
  mutating func number(_ prefix: Span<UInt8>) throws(ImageError) -> Int? {
    skipSpace(prefix)
    var value = 0
    while offset < prefix.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(prefix[offset]) {
      value = value * 10 + Int(prefix[offset] - UInt8(ascii: "0"))
      offset += 1
      guard value < 1 << 32 else { throw Self.invalid }
    }
    guard offset < Self.longest else { throw Self.invalid }
    guard offset < prefix.count else { return nil }
    guard Self.isSpace(prefix[offset]) else { throw Self.invalid }
    offset += 1
    return value
  }

  private mutating func skipSpace(_ prefix: Span<UInt8>) {
    var isComment = false
    while offset < prefix.count {
      let byte = prefix[offset]
      if byte == UInt8(ascii: "#") { isComment = true }
      guard isComment || Self.isSpace(byte) else { return }
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { isComment = false }
      offset += 1
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}
