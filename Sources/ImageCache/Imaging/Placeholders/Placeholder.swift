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

extension OutputFormat {
  /// A ``Placeholder`` instead of a file; see ``Thumbnail/placeholder``. Not in ``all``, which lists the formats of
  /// files.
  public static let placeholder = OutputFormat(
    rawValue: "placeholder", mediaType: "application/octet-stream", fileExtension: "placeholder")
}

extension ThumbnailSpec {
  /// The ``Placeholder`` of an image, which is rendered, cached and shared like a thumbnail.
  public static let placeholder = ThumbnailSpec(width: ThumbHash.longestSide, format: .placeholder)
}

/// Describes the pixels of a thumbnail as a ``Placeholder`` in place of a file.
struct PlaceholderEncoder: ThumbnailEncoder {
  /// Fine color would not be seen.
  let chromaStep = 2

  func peakBytes(forPixels count: Int) -> Int { 0 }

  /// Planes too, so that a placeholder never keeps the thumbnails of a JPEG file from being made of planes.
  func accepts(_ layout: PixelLayout) -> Bool { true }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    let samples = try bitmap.fourSamples()
    return EncodedFile(format: .placeholder, bytes: Placeholder(samples.span, size: bitmap.size).record)
  }
}

extension ThumbnailSpec.Color {
  /// The bits of each component that decide whether two colors count as the same.
  private static let bits = 4

  /// Finds the color that covers most of an image; nil if all of it is transparent. `samples` are red, green, blue and
  /// straight alpha of each pixel.
  ///
  /// Colors whose components agree in their four highest bits count together, weighed by alpha, and the result is the
  /// mean of the group with the most weight. Of two such groups, it is the darker one, by red, then green, then blue.
  init?(dominantIn samples: Span<UInt8>) {
    var weights = [UInt32](repeating: 0, count: 1 << (3 * Self.bits))
    for offset in stride(from: 0, to: samples.count, by: 4) {
      weights[Self.group(samples, offset)] += UInt32(samples[offset + 3])
    }
    let weight = weights.max() ?? 0
    guard weight > 0, let group = weights.firstIndex(of: weight) else { return nil }
    var sums = SIMD4<Int>.zero
    for offset in stride(from: 0, to: samples.count, by: 4) where Self.group(samples, offset) == group {
      let color = SIMD4(Int(samples[offset]), Int(samples[offset + 1]), Int(samples[offset + 2]), 0)
      sums &+= color &* Int(samples[offset + 3])
    }
    let mean = (sums &+ Int(weight) / 2) / Int(weight)
    self.init(red: UInt8(mean.x), green: UInt8(mean.y), blue: UInt8(mean.z))
  }

  @inline(__always)
  private static func group(_ samples: Span<UInt8>, _ offset: Int) -> Int {
    let shift = 8 - bits
    let (red, green, blue) = (Int(samples[offset]), Int(samples[offset + 1]), Int(samples[offset + 2]))
    return ((red >> shift) << bits | green >> shift) << bits | blue >> shift
  }
}
