/// Everything that determines the pixels of one thumbnail.
///
/// Equal specs of one source describe the same thumbnail and share one cache entry.
///
/// ```swift
/// let icon = ThumbnailSpec(width: 64, scale: 2, fit: .cover)  // 128 by 128 pixels
/// let preview = ThumbnailSpec(width: 640, height: 480, format: .jpeg, quality: 75)
/// ```
public struct ThumbnailSpec: Hashable, Sendable {
  /// The largest side of a box, in pixels.
  public static let largestSide = 16384

  /// The box in points. Each side is 1 to ``largestSide`` divided by ``scale``.
  public var box: PixelSize
  /// Pixels per point, 1 to 8. Default 1.
  public var scale: Int
  /// The way the image is fitted to the box. Default ``Fit/inside``.
  public var fit: Fit
  /// The part of the image that ``Fit/cover`` keeps. Default ``Gravity/center``. Ignored for any other fit.
  public var gravity: Gravity
  /// The treatment of an image smaller than the box. Default ``Enlargement/never``.
  public var enlargement: Enlargement
  /// The output format. Default ``Format/auto``.
  public var format: Format
  /// The quality of JPEG, lossy WebP and AVIF, 1 to 100, on the scale of JPEG: files of the other formats look as good
  /// as a JPEG file of the same quality. Default 82. Ignored for PNG and lossless WebP.
  public var quality: Int
  /// The color behind transparent and padded areas in JPEG output. Default white.
  public var background: Color
  /// The resampling filter. Default ``Filter/lanczos3``.
  public var filter: Filter
  /// The color space in which pixels are averaged. Default ``Light/perceptual``.
  public var light: Light
  /// The scan order of JPEG output. Default ``Scans/baseline``. Ignored for other formats.
  public var scans: Scans

  /// Creates a spec for a box of `width` by `height` points. `height` defaults to `width`.
  ///
  /// Any value is accepted here; ``Renderer/check(_:)`` throws if one is out of range.
  public init(
    width: Int, height: Int? = nil, scale: Int = 1, fit: Fit = .inside, gravity: Gravity = .center,
    enlargement: Enlargement = .never, format: Format = .auto, quality: Int = 82, background: Color = .white,
    filter: Filter = .lanczos3, light: Light = .perceptual, scans: Scans = .baseline
  ) {
    self.box = PixelSize(width: width, height: height ?? width)
    self.scale = scale
    self.fit = fit
    self.gravity = gravity
    self.enlargement = enlargement
    self.format = format
    self.quality = quality
    self.background = background
    self.filter = filter
    self.light = light
    self.scans = scans
  }

  /// The gravity that has an effect: the middle, unless the fit is ``Fit/cover``.
  var effectiveGravity: Gravity { fit == .cover ? gravity : .center }

  /// Compares everything that determines the pixels, so a gravity counts only if it has an effect.
  public static func == (first: Self, second: Self) -> Bool {
    (first.box, first.scale, first.fit, first.effectiveGravity, first.enlargement)
      == (second.box, second.scale, second.fit, second.effectiveGravity, second.enlargement)
      && (first.format, first.quality, first.background, first.filter, first.light, first.scans)
        == (second.format, second.quality, second.background, second.filter, second.light, second.scans)
  }

  /// Hashes the numbers only. The other properties would be hashed as strings, and specs that differ only in those
  /// rarely share a table.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(box.width &<< 32 ^ box.height &<< 16 ^ scale &<< 8 ^ quality)
  }

  /// The box in pixels. A side that overflows is clamped to `Int.max`.
  public var pixelBox: PixelSize {
    PixelSize(width: box.width.saturatingProduct(scale), height: box.height.saturatingProduct(scale))
  }

  /// The short name in reports and file names: `256x256`, or `64x64@2x` if the scale is not 1.
  public var label: String { scale == 1 ? "\(box)" : "\(box)@\(scale)x" }
}
