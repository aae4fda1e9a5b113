/// The format of a thumbnail. ``all`` lists those of files; there are also ``rgba``, ``placeholder``,
/// ``perceptualHash`` and ``original``.
public struct OutputFormat: RawRepresentable, Hashable, Sendable {
  /// The name in reports and in the cache, such as `jpeg`.
  public let rawValue: String
  /// The media type, such as `image/jpeg`.
  public let mediaType: String
  /// The usual file name extension, without a dot, such as `jpg`.
  public let fileExtension: String

  init(rawValue: String, mediaType: String, fileExtension: String) {
    self.rawValue = rawValue
    self.mediaType = mediaType
    self.fileExtension = fileExtension
  }

  /// Creates the format with this name, even if this build lacks it, because another build may have stored it in the
  /// cache. nil for a name that no format has.
  public init?(rawValue: String) {
    guard let format = Self.known.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = format
  }
}

extension OutputFormat {
  /// All formats, with those of package traits that are off, and those that are no files.
  private static let known =
    inProcess + [.webp].filter { !inProcess.contains($0) }
    + [.avif, .rgba, .placeholder, .perceptualHash, .original]

  /// All formats of files that can be encoded: AVIF only if `thumbs-decode` is installed. It may lack the encoder;
  /// ``DecoderCondition/outputs`` says so.
  public static let all = inProcess + (DecoderProgram.installed == nil ? [] : [.avif])

  /// The formats of files that are encoded in this process.
  public static let inProcess = CodecTable.encoders.map { $0.format }
}

extension OutputFormat: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
}

extension ThumbnailSpec.Format {
  /// The format of the thumbnails; nil for ``auto`` and ``smallest``, because it depends on the source, and for a
  /// format that this build cannot write.
  public var output: OutputFormat? {
    switch self {
    case .avif: .avif
    case .rgba: .rgba
    case .placeholder: .placeholder
    case .perceptualHash: .perceptualHash
    case .original: .original
    default: encoder?.format
    }
  }
}

extension OutputFormat {
  /// Returns true if a thumbnail of `spec` may have this format.
  func suits(_ spec: ThumbnailSpec) -> Bool {
    spec.format.output.map { $0 == self } ?? (OutputFormat.inProcess.contains(self) && self != .gif)
  }
}

/// The format of a source: of a file that can be decoded. ``all`` lists the values.
public struct SourceFormat: RawRepresentable, Hashable, Sendable {
  /// The name in reports and in the cache, such as `jpeg`.
  public let rawValue: String
  /// The media type, such as `image/jpeg`.
  public let mediaType: String

  init(rawValue: String, mediaType: String) {
    self.rawValue = rawValue
    self.mediaType = mediaType
  }

  /// Creates the format with this name, even if this build lacks it, because another build may have stored it in the
  /// cache. nil for a name that no format has.
  public init?(rawValue: String) {
    guard let format = Self.known.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = format
  }
}

extension SourceFormat {
  /// All formats, with those of package traits that are off.
  private static let known = inProcess + [.webp].filter { !inProcess.contains($0) } + isolated

  /// All formats that can be decoded: those of another program only if that is installed.
  public static let all = inProcess + IsolatedFormat.all.filter { $0.program.isInstalled }.map(\.format)

  /// The formats that are decoded in this process.
  public static let inProcess = CodecTable.decoders.map { $0.format }
  private static let isolated = IsolatedFormat.all.map(\.format)

  /// The value of an `Accept` header field (RFC 9110, section 12.5.1) that lists the formats of the web that are
  /// decoded in this process, all with the same weight, so that a server sends the smallest file. Many servers read
  /// only the first types, so the formats with the smallest files come first. Anything else is acceptable as well,
  /// because many servers label images wrongly.
  ///
  /// The formats of `thumbs-decode` are not listed: where a server has a choice, a JPEG is decoded much faster.
  public static let accept = (CodecTable.webDecoders.map { $0.format.mediaType } + ["*/*;q=0.1"]).joined(
    separator: ", ")
}

extension SourceFormat: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
}
