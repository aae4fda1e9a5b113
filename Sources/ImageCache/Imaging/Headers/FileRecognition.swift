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
    if let name = CameraRaw.name(prefix) { throw Self.unsupported(name) }
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
