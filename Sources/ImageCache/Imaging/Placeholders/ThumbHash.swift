import Foundation

/// A blurred image in about 25 bytes, with its aspect ratio and its transparency, to show until the image has loaded.
///
/// The format is that of https://github.com/evanw/thumbhash, for which there are decoders in many languages. They are
/// usually given the hash as ``base64``.
public struct ThumbHash: Hashable, Sendable {
  /// The longest side of an image that is encoded, in pixels.
  public static let longestSide = 100

  /// The hash: 17 to 25 bytes if it was made from an image.
  public let bytes: [UInt8]

  /// Creates a hash from its bytes; nil if their number is not the one that their header demands.
  public init?(bytes: [UInt8]) {
    guard bytes.count >= 5, bytes.count == Self.length(shape: Shape(header: bytes)) else { return nil }
    self.bytes = bytes
  }

  /// Creates a hash from its Base64 text, with or without padding; nil for any other text.
  public init?(base64: String) {
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: base64 + padding) else { return nil }
    self.init(bytes: [UInt8](data))
  }

  /// The bytes in Base64 (RFC 4648, section 4), with padding.
  public var base64: String { Data(bytes).base64EncodedString() }

  /// True if parts of the image are transparent.
  public var hasAlpha: Bool { Shape(header: bytes).hasAlpha }
}

extension ThumbHash: CustomStringConvertible {
  /// The hash as ``base64``.
  public var description: String { base64 }
}

extension ThumbHash {
  /// The number of waves in the channels.
  struct Shape: Hashable {
    /// The number of waves of lightness across and down, at least 1.
    var across, down: Int
    /// True if there is a channel of alpha, and with it fewer waves of lightness.
    var hasAlpha: Bool

    /// The most waves of lightness in one direction.
    static func limit(hasAlpha: Bool) -> Int { hasAlpha ? 5 : 7 }

    /// The waves of yellow against blue and of red against green, in each direction.
    static let colorWaves = 3
    /// The waves of alpha in each direction.
    static let alphaWaves = 5

    /// Chooses the shape for an image of this size.
    init(_ size: PixelSize, hasAlpha: Bool) {
      let (limit, longer) = (Self.limit(hasAlpha: hasAlpha), max(size.width, size.height))
      let count = { side in max(1, (2 * limit * side + longer) / (2 * longer)) }
      (across, down, self.hasAlpha) = (count(size.width), count(size.height), hasAlpha)
    }

    /// Reads the shape in the first 5 bytes of a hash.
    init(header: [UInt8]) {
      hasAlpha = header[2] & 0x80 != 0
      let (limit, shorter) = (Self.limit(hasAlpha: hasAlpha), Int(header[3] & 7))
      (across, down) = header[4] & 0x80 != 0 ? (limit, shorter) : (shorter, limit)
    }

    /// The channels in the order of the hash, each as its number of waves across and down.
    var channels: [(across: Int, down: Int)] {
      let (color, alpha) = (Self.colorWaves, Self.alphaWaves)
      let opaque = [(max(3, across), max(3, down)), (color, color), (color, color)]
      return hasAlpha ? opaque + [(alpha, alpha)] : opaque
    }
  }

  /// Calls `body` with the waves of a channel in the order of the hash: each is a number of half periods across, and
  /// one down. The first wave, with none, is the mean.
  static func forEachWave(across: Int, down: Int, _ body: (_ across: Int, _ down: Int) -> Void) {
    for row in 0..<down {
      for column in 0..<across where column * down < across * (down - row) { body(column, row) }
    }
  }

  private static func length(shape: Shape) -> Int {
    var waves = 0
    for (across, down) in shape.channels { forEachWave(across: across, down: down) { _, _ in waves += 1 } }
    return (shape.hasAlpha ? 6 : 5) + (waves - shape.channels.count + 1) / 2
  }
}
