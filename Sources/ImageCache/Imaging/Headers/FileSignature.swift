/// What a file is, by its first bytes.
enum FileSignature: Sendable {
  /// Too few bytes to tell.
  case undecided
  /// A JPEG file that begins at an offset.
  case jpeg(start: Int)
  case png

  /// Recognises a file. Throws `unsupportedFormat` for pictures that are not decoded here, by their name, and
  /// `notAnImage` for everything else.
  static func recognize(_ prefix: Span<UInt8>) throws(ImageError) -> FileSignature {
    if startsJPEG(prefix, at: 0) { return .jpeg(start: 0) }
    if matches(prefix, pngSignature) { return .png }
    for (name, signature) in others where matches(prefix, signature) { throw unsupported(name) }
    if let name = containerName(prefix) { throw unsupported(name) }
    // Fewer bytes could fit both an embedded JPEG and a longer signature: a verdict on them might not last.
    if prefix.count < longest { return .undecided }
    let start = embeddedJPEG(prefix.extracting(first: TextContent.window))
    // A page or an SVG that was recognized before the JPEG arrived stays one.
    try TextContent.refuse(prefix.extracting(first: start ?? prefix.count))
    return start.map { .jpeg(start: $0) } ?? .undecided
  }

  /// Returns the offset of a JPEG file that follows garbage, such as a warning that a script printed. All the bytes that
  /// tell it are in `window`: without it, the end of the window decides that the file is not an image.
  private static func embeddedJPEG(_ window: Span<UInt8>) -> Int? {
    (1..<window.count).first { startsJPEG(window, at: $0) }
  }

  /// SOI and the first byte of another marker. Behind garbage, that marker must be one that JPEG files begin with.
  private static func startsJPEG(_ prefix: Span<UInt8>, at start: Int) -> Bool {
    guard start + 2 < prefix.count, prefix[start] == 0xFF, prefix[start + 1] == 0xD8, prefix[start + 2] == 0xFF else {
      return false
    }
    return start == 0 || start + 3 < prefix.count && isFirst(prefix[start + 3])
  }

  /// DQT, DHT, APP0 to APP15, COM, SOF0, SOF2.
  private static func isFirst(_ marker: UInt8) -> Bool {
    [0xDB, 0xC4, 0xFE, 0xC0, 0xC2].contains(marker) || (0xE0...0xEF).contains(marker)
  }

  private static let pngSignature: [UInt8?] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Signatures of formats that users meet and that are not decoded here. nil stands for any byte.
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

  /// ISO base media files name their kind behind `ftyp` (ISO/IEC 14496-12, section 4.3).
  private static func containerName(_ prefix: Span<UInt8>) -> String? {
    guard prefix.has("ftyp", at: 4), prefix.count >= 12 else { return nil }
    for brand: StaticString in ["avif", "avis"] where prefix.has(brand, at: 8) { return "AVIF" }
    let highEfficiency: [StaticString] = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
    for brand in highEfficiency where prefix.has(brand, at: 8) { return "HEIC" }
    return prefix.has("crx ", at: 8) ? "Canon raw (CR3)" : "Video (MP4 or QuickTime)"
  }

  /// Returns true if a longer file could begin like this, which is not empty, and be an image.
  static func couldBecomeKnown(_ prefix: Span<UInt8>) -> Bool {
    let container = any(4) + ascii("ftyp") + any(4)
    let known: [[UInt8?]] = others.map(\.signature) + [pngSignature, [0xFF, 0xD8, 0xFF], container]
    return known.contains { signature in
      let shown = Array(signature.prefix(prefix.count))
      // Bytes that may be anything tell nothing by themselves.
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
