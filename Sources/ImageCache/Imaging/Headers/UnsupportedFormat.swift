/// Common formats that are recognized only to name them in an error. A decoder for one of them takes precedence.
enum UnsupportedFormat {
  /// Returns the name of the format; nil if it is unknown.
  static func name(_ prefix: Span<UInt8>) -> String? {
    for (name, signature) in signatures where signature.matches(prefix) { return name }
    return container.matches(prefix) ? containerName(prefix) : nil
  }

  /// The signatures of all formats.
  static let allSignatures = signatures.map(\.signature) + [container]

  private static let signatures = [
    ("WebP without the package trait WebP", ascii("RIFF") + any(4) + ascii("WEBP")),
    ("ICNS", ascii("icns")),
    ("JPEG 2000", [0, 0, 0, 0x0C] + ascii("jP  ")), ("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51]),
    ("JPEG XR", ascii("II") + [0xBC, 0x01]),
    ("PSD", ascii("8BPS")), ("PDF", ascii("%PDF-")), ("PostScript", ascii("%!PS")),
    ("MNG", [0x8A] + ascii("MNG")), ("JNG", [0x8B] + ascii("JNG")),
    ("OpenEXR", [0x76, 0x2F, 0x31, 0x01]), ("QOI", ascii("qoif")), ("DDS", ascii("DDS ")),
    ("FLIF", ascii("FLIF")), ("BPG", ascii("BPG") + [0xFB]), ("Radiance HDR", ascii("#?RADIANCE")),
    ("Fujifilm raw (RAF)", ascii("FUJIFILMCCD-RAW")), ("Olympus raw (ORF)", ascii("IIRO")),
    ("Olympus raw (ORF)", ascii("IIRS")), ("Olympus raw (ORF)", ascii("MMOR")),
    ("Panasonic raw (RW2)", ascii("IIU") + [0]), ("Sigma raw (X3F)", ascii("FOVb")),
    ("WMF", [0xD7, 0xCD, 0xC6, 0x9A]), ("XCF", ascii("gimp xcf")),
  ].map { (name: $0, signature: FileSignature($1)) }

  /// ISO base media files, whose major brand follows `ftyp` (ISO/IEC 14496-12, section 4.3).
  private static let container = FileSignature(any(4) + ascii("ftyp") + any(4))

  private static func containerName(_ prefix: Span<UInt8>) -> String {
    return prefix.has("crx ", at: 8) ? "Canon raw (CR3)" : "Video (MP4 or QuickTime)"
  }

  private static func ascii(_ text: String) -> [UInt8?] { FileSignature.ascii(text) }
  private static func any(_ count: Int) -> [UInt8?] { FileSignature.any(count) }
}
