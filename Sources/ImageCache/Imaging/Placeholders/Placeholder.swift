/// The first impression of an image, to show until the image itself has loaded.
///
/// ```swift
/// let specs = [ThumbnailSpec(width: 256), .placeholder]
/// let rendering = try Renderer().render(bytes, specs: specs)
/// if let placeholder = rendering.thumbnails[1].placeholder {
///   print(placeholder.thumbHash.base64, placeholder.color.map { "#\($0)" } ?? "transparent")
/// }
/// ```
public struct Placeholder: Hashable, Sendable {
  /// The blurred image.
  public var thumbHash: ThumbHash
  /// The color that covers most of the image; nil if all of it is transparent. Colors that are nearly the same count
  /// together, and transparent pixels count less.
  public var color: ThumbnailSpec.Color?

  /// Creates a placeholder from its parts.
  public init(thumbHash: ThumbHash, color: ThumbnailSpec.Color?) {
    self.thumbHash = thumbHash
    self.color = color
  }

  /// Describes an image as ``ThumbHash`` and ``ThumbnailSpec/Color`` do.
  init(_ samples: Span<UInt8>, size: PixelSize) {
    self.init(thumbHash: ThumbHash(samples, size: size), color: ThumbnailSpec.Color(dominantIn: samples))
  }
}

extension Placeholder {
  private static let version: UInt8 = 1

  /// The placeholder as the bytes of a thumbnail: a version, the color as red, green, blue and alpha, which is 0 for no
  /// color and otherwise 255, and the hash.
  var record: [UInt8] {
    let samples: [UInt8] = color.map { [$0.red, $0.green, $0.blue, 255] } ?? [0, 0, 0, 0]
    return [Self.version] + samples + thumbHash.bytes
  }

  /// Reads a ``record``; nil for any other bytes.
  init?(record: [UInt8]) {
    guard record.count > 5, record[0] == Self.version, let thumbHash = ThumbHash(bytes: Array(record[5...])) else {
      return nil
    }
    let color = ThumbnailSpec.Color(red: record[1], green: record[2], blue: record[3])
    self.init(thumbHash: thumbHash, color: record[4] == 0 ? nil : color)
  }
}

extension Thumbnail {
  /// The placeholder; nil unless the ``format`` is ``OutputFormat/placeholder``.
  public var placeholder: Placeholder? { format == .placeholder ? Placeholder(record: bytes) : nil }
}
