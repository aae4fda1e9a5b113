/// What one thumbnail of a picture shall look like: everything that decides its pixels.
///
/// Two equal specs of one source are the same thumbnail, and share one cache entry.
public struct ThumbnailSpec: Hashable, Sendable {
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
  /// The weights of scaling. Default ``Filter/lanczos3``.
  public var filter: Filter
  /// What scaling mixes. Default ``Light/perceptual``.
  public var light: Light
  /// The order of a JPEG file. Default ``Scans/baseline``. Without meaning for PNG.
  public var scans: Scans

  /// A spec for a box of `width` by `height` points; `height` is `width` where it is left out.
  public init(
    width: Int, height: Int? = nil, scale: Int = 1, fit: Fit = .inside, enlargement: Enlargement = .never,
    format: Format = .auto, quality: Int = 82, background: Color = .white, filter: Filter = .lanczos3,
    light: Light = .perceptual, scans: Scans = .baseline
  ) {
    self.box = PixelSize(width: width, height: height ?? width)
    self.scale = scale
    self.fit = fit
    self.enlargement = enlargement
    self.format = format
    self.quality = quality
    self.background = background
    self.filter = filter
    self.light = light
    self.scans = scans
  }

  /// Feeds the numbers alone: specs that differ in nothing else are seldom in one place, and the choices would be hashed
  /// as text.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(box.width &<< 32 ^ box.height &<< 16 ^ scale &<< 8 ^ quality)
  }

  /// The box in pixels. A side that is too large for a number is the largest there is.
  public var pixelBox: PixelSize {
    PixelSize(width: box.width.saturatingProduct(scale), height: box.height.saturatingProduct(scale))
  }

  /// The short name of reports and file names: `256x256`, or `64x64@2x` where the scale is not 1.
  public var label: String { scale == 1 ? "\(box)" : "\(box)@\(scale)x" }
}
