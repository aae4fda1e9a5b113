/// The table of the codecs, each of which has its folder in `Imaging`.
enum CodecTable {
  /// The decoders in this process. A file belongs to the first one that has a matching signature.
  static let decoders = webDecoders + [QOIDecoder.self, PNMDecoder.self]

  /// The decoders of the formats of the web. The media types in ``SourceFormat/accept`` have the same order.
  static let webDecoders: [any FileDecoder.Type] =
    optionalDecoders + [JPEGDecoder.self, PNGDecoder.self, GIFDecoder.self, BMPDecoder.self, ICODecoder.self]

  /// The encoders in this process.
  static let encoders: [any ImageEncoder.Type] =
    [JPEGEncoder.self, PNGEncoder.self, GIFEncoder.self] + optionalEncoders

  /// The formats of files.
  static let files: [any MarkedFormat.Type] = encoders + [AVIFEncoder.self]

  #if WebP
    private static let optionalDecoders: [any FileDecoder.Type] = [WebPDecoder.self]
    private static let optionalEncoders: [any ImageEncoder.Type] = [WebPEncoder.self]
  #else
    private static let optionalDecoders: [any FileDecoder.Type] = []
    private static let optionalEncoders: [any ImageEncoder.Type] = []
  #endif
}

extension ThumbnailSpec.Format {
  /// The encoder of the files in this process. nil for ``auto``, because each decoder chooses the encoder for its file,
  /// for ``smallest``, for ``avif``, for ``rgba``, ``placeholder`` and ``perceptualHash``, which are no files, and for
  /// a format that this build lacks.
  var encoder: (any ImageEncoder.Type)? { CodecTable.encoders.first { $0.format.rawValue == rawValue } }

  /// The package trait that this build would need for the format; nil if it can write the format.
  var missingTrait: String? {
    #if WebP
      nil
    #else
      self == .webp || self == .smallest ? "WebP" : nil
    #endif
  }
}

/// A format whose files can hold a comment, and so have a ``ThumbnailMark``.
protocol MarkedFormat: SendableMetatype {
  /// The format of the files.
  static var format: OutputFormat { get }

  /// Returns the offset at which a comment can be inserted into an encoded file of `count` bytes.
  static func commentOffset(inFileOf count: Int) -> Int

  /// Returns the bytes that add a comment to a file. `text` is ASCII, at most 240 characters.
  static func comment(_ text: String) -> [UInt8]

  /// Changes the bytes before the comment of a file that becomes `count` bytes longer by it. Does nothing by default.
  static func lengthen(_ head: inout [UInt8], by count: Int)

  /// Returns the size that the header of a file declares, as it is displayed; nil for a file of another format.
  static func size(of file: Span<UInt8>) -> PixelSize?

  /// Returns the offset at which a file ends, according to its own structure; nil if a part of it is missing or
  /// malformed. Reads no pixels.
  static func end(of file: Span<UInt8>) -> Int?

  /// Returns true if a file with these ends may have a comment that begins with `comment`.
  static func mayHold(_ comment: ArraySlice<UInt8>, _ ends: FileEnds) -> Bool
}

/// The first and the last bytes of a file.
struct FileEnds {
  var prefix: [UInt8]
  var suffix: [UInt8]
}

extension MarkedFormat {
  static func lengthen(_ head: inout [UInt8], by count: Int) {}
}

extension ImageError {
  /// Creates an error with the sentence for a failure of a decoder or encoder, and with its own reason unless that is
  /// empty.
  init(_ code: Code, reason: String) {
    let sentence =
      switch code {
      case .truncated: "The image data is truncated"
      case .unsupportedFormat: "This variant of the format is not supported"
      case .tooManyPixels: "The image has more pixels than allowed"
      case .decodeLimit: "Decoding the image would take too much work or memory"
      case .outOfMemory: "Out of memory for the image"
      case .notAnImage: "The file is not an image"
      case .noPage: "The document lacks the page"
      default: "The image is corrupt"
      }
    self.init(code, reason.isEmpty ? "\(sentence)." : "\(sentence): \(reason).")
  }
}
