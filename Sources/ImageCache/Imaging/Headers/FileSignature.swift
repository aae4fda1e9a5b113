/// The format of a file, recognized by its first bytes.
enum FileSignature: Sendable {
  /// More bytes are needed to recognize the format.
  case undecided
  /// A JPEG file that begins at the given offset.
  case jpeg(start: Int)
  case png

  /// Recognizes a file. Throws `unsupportedFormat`, naming the format, for images that cannot be decoded, and
  /// `notAnImage` for everything else.
  static func recognize(_ prefix: Span<UInt8>) throws(ImageError) -> FileSignature {
    if startsJPEG(prefix, at: 0) { return .jpeg(start: 0) }
    if matches(prefix, pngSignature) { return .png }
    for (name, signature) in others where matches(prefix, signature) { throw unsupported(name) }
    if let name = containerName(prefix) { throw unsupported(name) }
    // A shorter prefix could match both an embedded JPEG and a longer signature, so more bytes could change the result.
    if prefix.count < longest { return .undecided }
    let start = embeddedJPEG(prefix.extracting(first: TextContent.window))
    // A page or an SVG that was recognized before the JPEG arrived is still refused.
    try TextContent.refuse(prefix.extracting(first: start ?? prefix.count))
    return start.map { .jpeg(start: $0) } ?? .undecided
  }

  /// Returns the offset of a JPEG file that follows garbage, such as a warning that a script printed. Its signature
  /// must lie entirely in `window`, because a full window without one means that the file is not an image.
  private static func embeddedJPEG(_ window: Span<UInt8>) -> Int? {
    (1..<window.count).first { startsJPEG(window, at: $0) }
  }

  /// Returns true if SOI and the first byte of another marker are at `start`. After garbage, that marker must be one
  /// that usually follows SOI.
  private static func startsJPEG(_ prefix: Span<UInt8>, at start: Int) -> Bool {
    guard start + 2 < prefix.count, prefix[start] == 0xFF, prefix[start + 1] == 0xD8, prefix[start + 2] == 0xFF else {
      return false
    }
    return start == 0 || start + 3 < prefix.count && isFirst(prefix[start + 3])
  }

  /// Returns true for the markers that usually follow SOI: DQT, DHT, APP0 to APP15, COM, SOF0, SOF2.
  private static func isFirst(_ marker: UInt8) -> Bool {
    [0xDB, 0xC4, 0xFE, 0xC0, 0xC2].contains(marker) || (0xE0...0xEF).contains(marker)
  }

  private static let pngSignature: [UInt8?] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Signatures of common formats that cannot be decoded. nil matches any byte.
  private static let others: [(name: String, signature: [UInt8?])] = [
    ("GIF", ascii("GIF87a")), ("GIF", ascii("GIF89a")),
    ("WebP", ascii("RIFF") + any(4) + ascii("WEBP")),
    ("BMP", ascii("BM") + any(4) + [0, 0, 0, 0]),
    ("TIFF", ascii("II*") + [0]), ("TIFF", ascii("MM") + [0] + ascii("*")),
    ("BigTIFF", ascii("II+") + [0]), ("BigTIFF", ascii("MM") + [0] + ascii("+")),
    ("ICO", [0, 0, 1, 0]), ("CUR", [0, 0, 2, 0]), ("ICNS", ascii("icns")),
    ("JPEG XL", [0xFF, 0x0A]), ("JPEG XL", [0, 0, 0, 0x0C] + ascii("JXL ")),
    ("JPEG 2000", [0, 0, 0, 0x0C] + ascii("jP  ")), ("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51]),
    ("JPEG XR", ascii("II") + [0xBC, 0x01]),
    ("PSD", ascii("8BPS")), ("PDF", ascii("%PDF-")), ("PostScript", ascii("%!PS")),
    ("MNG", [0x8A] + ascii("MNG")), ("JNG", [0x8B] + ascii("JNG")),
    ("OpenEXR", [0x76, 0x2F, 0x31, 0x01]), ("QOI", ascii("qoif")), ("DDS", ascii("DDS ")),
    ("FLIF", ascii("FLIF")), ("BPG", ascii("BPG") + [0xFB]), ("Radiance HDR", ascii("#?RADIANCE")),
    ("WMF", [0xD7, 0xCD, 0xC6, 0x9A]), ("XCF", ascii("gimp xcf")),
  ]

  private static let longest = 12

  /// Returns the format of an ISO base media file, which its major brand after `ftyp` names (ISO/IEC 14496-12, section
  /// 4.3); nil for other files.
  private static func containerName(_ prefix: Span<UInt8>) -> String? {
    guard prefix.has("ftyp", at: 4), prefix.count >= 12 else { return nil }
    for brand: StaticString in ["avif", "avis"] where prefix.has(brand, at: 8) { return "AVIF" }
    let highEfficiency: [StaticString] = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
    for brand in highEfficiency where prefix.has(brand, at: 8) { return "HEIC" }
    return prefix.has("crx ", at: 8) ? "Canon raw (CR3)" : "Video (MP4 or QuickTime)"
  }

  /// Returns true if an image could begin with `prefix`, which must not be empty.
  static func couldBecomeKnown(_ prefix: Span<UInt8>) -> Bool {
    let container = any(4) + ascii("ftyp") + any(4)
    let known: [[UInt8?]] = others.map(\.signature) + [pngSignature, [0xFF, 0xD8, 0xFF], container]
    return known.contains { signature in
      let shown = Array(signature.prefix(prefix.count))
      // A prefix that matches only wildcards matches any file.
      return shown.contains { $0 != nil } && matches(prefix, shown)
    }
  }

  private static func matches(_ prefix: Span<UInt8>, _ signature: [UInt8?]) -> Bool {
    guard prefix.count >= signature.count else { return false }
    for (index, expected) in signature.enumerated() {
      if let expected, prefix[index] != expected { return false }
    }
    return true
  }

  private static func ascii(_ text: String) -> [UInt8?] { text.utf8.map(Optional.some) }
  private static func any(_ count: Int) -> [UInt8?] { Array(repeating: nil, count: count) }

  private static func unsupported(_ name: String) -> ImageError {
    ImageError(.unsupportedFormat, "\(name) is not supported.")
  }
}
