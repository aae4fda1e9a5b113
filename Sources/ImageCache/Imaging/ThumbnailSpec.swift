/// What one thumbnail of a picture shall look like: everything that decides its pixels.
///
/// Two equal specs of one source are the same thumbnail, and share one cache entry.
public struct ThumbnailSpec: Hashable, Sendable {
  /// How the picture meets the box.
  public enum Fit: String, CaseIterable, Hashable, Sendable {
    /// As large as fits in the box, in its own proportions. Usually smaller than the box on one side.
    case inside
    /// Fills the box in its own proportions; what stands out is cut off evenly on both sides.
    case cover
    /// Like `inside`, with the rest of the box filled: transparent in PNG, `background` in JPEG.
    case pad
    /// Exactly the box; proportions are given up.
    case stretch
  }

  /// What happens to a picture that is smaller than the box.
  public enum Enlargement: String, Hashable, Sendable {
    /// It keeps its size.
    case never
    /// It grows to the box.
    case allowed
  }

  /// The format of the thumbnail's file.
  public enum Format: String, CaseIterable, Hashable, Sendable {
    /// The format of the source: JPEG in gives JPEG, PNG in gives PNG.
    case auto
    /// Always JPEG; transparent parts show `background`.
    case jpeg
    /// Always PNG.
    case png
  }

  /// An opaque sRGB colour.
  public struct Color: Hashable, Sendable {
    /// The three components, 0 to 255.
    public var red, green, blue: UInt8

    /// A colour from its components.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
      (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// `ffffff`.
    public static let white = Color(red: 255, green: 255, blue: 255)
  }

  /// The largest side of a box, in pixels.
  public static let largestSide = 16384

  /// The box in points, each side 1 to ``largestSide`` divided by ``scale``.
  public var box: PixelSize
  /// Pixels for each point, 1 to 8. Default 1.
  public var scale: Int
  /// How the picture meets the box. Default ``Fit/inside``.
  public var fit: Fit
  /// Whether a small picture may grow. Default ``Enlargement/never``.
  public var enlargement: Enlargement
  /// The output format. Default ``Format/auto``.
  public var format: Format
  /// JPEG quality, 1 to 100. Default 82. Without meaning for PNG.
  public var quality: Int
  /// What shows through where JPEG has no transparency. Default white.
  public var background: Color

  /// A spec for a box of `width` by `height` points; `height` is `width` where it is left out.
  public init(
    width: Int, height: Int? = nil, scale: Int = 1, fit: Fit = .inside, enlargement: Enlargement = .never,
    format: Format = .auto, quality: Int = 82, background: Color = .white
  ) {
    self.box = PixelSize(width: width, height: height ?? width)
    self.scale = scale
    self.fit = fit
    self.enlargement = enlargement
    self.format = format
    self.quality = quality
    self.background = background
  }

  /// The box in pixels.
  public var pixelBox: PixelSize { PixelSize(width: box.width * scale, height: box.height * scale) }

  /// The short name of reports and file names: `256x256`, or `64x64@2x` where the scale is not 1.
  public var label: String { scale == 1 ? "\(box)" : "\(box)@\(scale)x" }
}

extension ThumbnailSpec.Color: CustomStringConvertible {
  /// Six lower-case hexadecimal digits, `rrggbb`.
  public var description: String {
    [red, green, blue].map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// A colour from six hexadecimal digits, with or without a leading `#`.
  public init?(_ text: String) {
    let digits = text.hasPrefix("#") ? text.dropFirst() : Substring(text)
    guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
      return nil
    }
    self.init(
      red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
      blue: UInt8(truncatingIfNeeded: value))
  }
}
