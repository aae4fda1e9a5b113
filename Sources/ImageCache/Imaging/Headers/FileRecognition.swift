/// The result of examining the first bytes of a file.
enum FileRecognition: Sendable {
  /// More bytes are needed to recognize the format.
  case undecided
  /// A file for this decoder, which begins at the offset `start`.
  case decodable(any FileDecoder.Type, start: Int)
  /// A file of a format that another process decodes.
  case isolated(IsolatedFormat)

  /// Recognizes a file. Throws `unsupportedFormat`, naming the format, for images that cannot be decoded, and
  /// `notAnImage` for everything else.
  init(_ prefix: Span<UInt8>) throws(ImageError) {
    for decoder in CodecTable.decoders where Self.has(prefix, decoder.signatures) {
      self = .decodable(decoder, start: 0)
      return
    }
    // Many of these files begin like TIFF.
    if CameraRaw.matches(prefix) {
      self = .isolated(.raw)
      return
    }
    if let format = IsolatedFormat.of(prefix) {
      self = .isolated(format)
      return
    }
    if let brands = ContainerBrands(prefix), brands.isUndecided || brands.format != nil {
      self = brands.format.map { .isolated($0) } ?? .undecided
      return
    }
    if let name = UnsupportedFormat.name(prefix) { throw Self.unsupported(name) }
    switch MarkupPrologue.root(of: prefix) {
    case .element("svg"):
      self = .isolated(.svg)
      return
    case .undecided:
      self = .undecided
      return
    case .element, .none: break
    }
    // If more bytes may complete a signature, they could change the verdict about an embedded file.
    self = Self.canStillMatch(prefix) ? .undecided : try Self.embedded(in: prefix)
  }

  private static func unsupported(_ name: String) -> ImageError {
    ImageError(.unsupportedFormat, "\(name) is not supported.")
  }

  /// Recognizes a file that follows garbage.
  private static func embedded(in prefix: Span<UInt8>) throws(ImageError) -> FileRecognition {
    // A full window without a file means that the bytes are not an image.
    let window = prefix.extracting(first: TextContent.window)
    for decoder in CodecTable.decoders {
      guard let start = decoder.start(afterGarbageIn: window) else { continue }
      // A page or an SVG that was recognized before the embedded file arrived is still refused.
      try TextContent.refuse(prefix.extracting(first: start))
      return .decodable(decoder, start: start)
    }
    try TextContent.refuse(prefix)
    return .undecided
  }

  /// Returns true if an image could begin with `prefix`, which must not be empty.
  static func couldBecomeKnown(_ prefix: Span<UInt8>) -> Bool {
    for signature in signatures where signature.mayMatch(prefix) { return true }
    return false
  }

  private static let signatures =
    CodecTable.decoders.flatMap { $0.signatures } + IsolatedFormat.all.flatMap(\.signatures)
    + UnsupportedFormat.allSignatures

  private static func canStillMatch(_ prefix: Span<UInt8>) -> Bool {
    for signature in signatures where signature.canStillMatch(prefix) { return true }
    return false
  }

  private static func has(_ prefix: Span<UInt8>, _ signatures: [FileSignature]) -> Bool {
    for signature in signatures where signature.matches(prefix) { return true }
    return false
  }
}

/// The first bytes of every file of a format.
struct FileSignature: Sendable {
  /// The bytes in order. nil stands for any byte.
  let bytes: [UInt8?]
  /// The offset of a byte that may have any value but zero.
  private let nonzero: Int?

  init(_ bytes: [UInt8?], nonzero: Int? = nil) { (self.bytes, self.nonzero) = (bytes, nonzero) }

  /// Returns true if a file that begins with `prefix` has this signature.
  func matches(_ prefix: Span<UInt8>) -> Bool {
    prefix.count >= bytes.count && agrees(with: prefix)
  }

  /// Returns true if a file that begins with `prefix` may have this signature. A prefix that agrees only with wildcards
  /// does not count, because every file does.
  func mayMatch(_ prefix: Span<UInt8>) -> Bool {
    bytes.prefix(prefix.count).contains { $0 != nil } && agrees(with: prefix)
  }

  /// Returns true if `prefix` is shorter than the signature, and the bytes after it decide whether the file has it.
  fileprivate func canStillMatch(_ prefix: Span<UInt8>) -> Bool { prefix.count < bytes.count && agrees(with: prefix) }

  private func agrees(with prefix: Span<UInt8>) -> Bool {
    if let nonzero, nonzero < prefix.count, prefix[nonzero] == 0 { return false }
    for (index, expected) in bytes.prefix(prefix.count).enumerated() {
      if let expected, prefix[index] != expected { return false }
    }
    return true
  }

  /// Returns the characters of `text` as the bytes of a signature.
  static func ascii(_ text: String) -> [UInt8?] { text.utf8.map(Optional.some) }

  /// Returns wildcards for `count` bytes.
  static func any(_ count: Int) -> [UInt8?] { Array(repeating: nil, count: count) }
}

/// The brands of an ISO base media file: the formats that it conforms to (ISO/IEC 14496-12, section 4.3).
private struct ContainerBrands {
  /// The maximum number of bytes in which brands are looked for. Real files have about ten brands, of 4 bytes each.
  private static let limit = 512

  /// The major brand, and then the compatible ones.
  private let brands: [String]
  private let isCut: Bool

  /// Reads the brands of the file that begins with `prefix`; nil if it is no such file.
  init?(_ prefix: Span<UInt8>) {
    guard prefix.count >= 12, prefix.has("ftyp", at: 4) else { return nil }
    let end = min(prefix.uint32(at: 0) ?? 0, Self.limit)
    isCut = prefix.count < end
    var brands: [String] = []
    for start in [8] + Array(stride(from: 16, through: min(end, prefix.count) - 4, by: 4)) {
      brands.append(String(decoding: (0..<4).map { prefix[start + $0] }, as: UTF8.self))
    }
    self.brands = brands
  }

  /// True if the brands after `prefix` decide.
  var isUndecided: Bool { isCut && Self.any.contains(brands[0]) }

  /// The format of the images in the file; nil for a video or another kind of file, and while that is undecided. An
  /// image whose major brand stands for any coding is AVIF if it is compatible with that, and otherwise for the library
  /// that reads most codings.
  var format: IsolatedFormat? {
    let isAny = Self.any.contains(brands[0])
    if isUndecided { return nil }
    if Self.avif.contains(brands[0]) || isAny && brands.contains(where: Self.avif.contains) { return .avif }
    return isAny || Self.heic.contains(brands[0]) ? .heic : nil
  }

  private static let avif: Set = ["avif", "avis", "avio", "MA1A", "MA1B"]
  private static let heic: Set = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "MiHE", "MiHB"]
  /// Brands of images in any coding.
  private static let any: Set = ["mif1", "mif2", "msf1", "miaf"]
}

/// Camera raw files that look like TIFF. Their first page is a small preview of the image, which follows in a format of
/// the camera. Files with another signature than TIFF are recognized by that.
private enum CameraRaw {
  /// The number of pages among which a full image is looked for.
  private static let maxPages = 16

  /// Returns true for one of them; false for other files, and as long as `prefix` ends before the directories that
  /// decide.
  static func matches(_ prefix: Span<UInt8>) -> Bool {
    guard let order = ByteOrder(tiff: prefix), prefix.uint16(at: 2, order) == 42,
      let start = prefix.uint32(at: 4, order), let first = TIFFPage(prefix, at: start, order)
    else { return false }
    if first.isDNG { return true }
    // As in TIFF/EP (ISO 12234-2), on which most of them are based. Other programs put the full image first, or on a
    // later page.
    return first.hasPagesInside && !hasFullImage(from: first, prefix, order)
  }

  /// Returns true unless all pages from `first` on are reduced images.
  private static func hasFullImage(from first: TIFFPage, _ prefix: Span<UInt8>, _ order: ByteOrder) -> Bool {
    var page = first
    for _ in 0..<maxPages {
      if !page.isReduced { return true }
      if page.next == 0 { return false }
      guard let next = TIFFPage(prefix, at: page.next, order) else { return true }
      page = next
    }
    return true
  }
}

/// A directory of a TIFF file (TIFF 6.0, section 2).
private struct TIFFPage {
  private(set) var isReduced = false
  private(set) var hasPagesInside = false
  private(set) var isDNG = false
  /// The offset of the next directory; 0 after the last one.
  let next: Int

  /// Reads the directory at `offset`; nil unless it is complete.
  init?(_ file: Span<UInt8>, at offset: Int, _ order: ByteOrder) {
    guard let count = file.uint16(at: offset, order), let next = file.uint32(at: offset + 2 + 12 * count, order) else {
      return nil
    }
    self.next = next
    for entry in (0..<count).map({ offset + 2 + 12 * $0 }) {
      switch file.uint16(at: entry, order) {
      case Self.dngVersion: isDNG = true
      case Self.newSubfileType: isReduced = (file.uint32(at: entry + 8, order) ?? 0) & 1 == 1
      case Self.subIFDs: hasPagesInside = true
      default: break
      }
    }
  }

  // The tags that distinguish these files: of TIFF 6.0, of its supplement 1, and of DNG.
  private static let (newSubfileType, subIFDs, dngVersion) = (254, 330, 50706)
}

/// Common formats that are recognized only to name them in an error. A decoder for one of them takes precedence.
private enum UnsupportedFormat {
  /// Returns the name of the format; nil if it is unknown.
  static func name(_ prefix: Span<UInt8>) -> String? {
    for (name, signature) in signatures where signature.matches(prefix) { return name }
    return container.matches(prefix) ? "Video (MP4 or QuickTime)" : nil
  }

  /// The signatures of all formats.
  static let allSignatures = signatures.map(\.signature) + [container]

  private static let signatures = [
    ("WebP without the package trait WebP", ascii("RIFF") + any(4) + ascii("WEBP")),
    ("ICNS", ascii("icns")),
    ("JPEG XR", ascii("II") + [0xBC, 0x01]),
    ("PostScript", ascii("%!PS")),
    ("MNG", [0x8A] + ascii("MNG")), ("JNG", [0x8B] + ascii("JNG")),
    ("OpenEXR", [0x76, 0x2F, 0x31, 0x01]), ("DDS", ascii("DDS ")),
    ("FLIF", ascii("FLIF")), ("BPG", ascii("BPG") + [0xFB]), ("Radiance HDR", ascii("#?RADIANCE")),
    ("Sigma raw (X3F)", ascii("FOVb")),
    ("WMF", [0xD7, 0xCD, 0xC6, 0x9A]), ("XCF", ascii("gimp xcf")),
  ].map { (name: $0, signature: FileSignature($1)) }

  /// ISO base media files, whose major brand follows `ftyp` (ISO/IEC 14496-12, section 4.3).
  private static let container = FileSignature(any(4) + ascii("ftyp") + any(4))

  private static func ascii(_ text: String) -> [UInt8?] { FileSignature.ascii(text) }
  private static func any(_ count: Int) -> [UInt8?] { FileSignature.any(count) }
}

extension SourceFormat {
  /// Returns true if a file that begins with `prefix` is an image that can be decoded, perhaps with `thumbs-decode`;
  /// nil if more bytes decide.
  package static func isImage(startingWith prefix: [UInt8]) -> Bool? {
    switch try? FileRecognition(prefix.span) {
    case .decodable: true
    // A directory has documents that nobody wants thumbnails of without the program.
    case .isolated(let format): format.program == .images || format.program.isInstalled
    case .undecided: nil
    case nil: false
    }
  }
}
