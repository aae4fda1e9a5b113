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
  /// The length of a side that is to limit nothing, in pixels: the largest that all formats can have. A side that is
  /// this long after scaling is left out of the ``label``.
  public static let freeSide = 16383

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
  /// as a JPEG file of the same quality. Default 82. Ignored for PNG, GIF and lossless WebP.
  public var quality: Int
  /// The color behind transparent and padded areas in JPEG output. Default white.
  public var background: Color
  /// The resampling filter. Default ``Filter/lanczos3``.
  public var filter: Filter
  /// The color space in which pixels are averaged. Default ``Light/perceptual``.
  public var light: Light
  /// The scan order of JPEG output. Default ``Scans/baseline``. Ignored for other formats.
  public var scans: Scans
  /// The longest file, in bytes, at least 1. If one of ``quality`` is longer, it has the highest quality that fits; if
  /// none fits, the thumbnail fails with `output_too_large`. JPEG files have half the resolution of chroma then. PNG,
  /// GIF and lossless WebP have no quality to lower. Ignored for pixels and placeholders. Default nil: no limit.
  public var maxBytes: Int?

  /// Removes a uniform border of the image before it is fitted, such as bars above and below, or the white around a
  /// product. The border has the color of the first pixel of the file, give or take this much per sample, 0 to 255; at
  /// most half of each side is removed. The image is decoded twice. Default nil: nothing is removed.
  public var trim: Int?
  /// The strength of a sharpening mask on the scaled image: each sample moves away from the mean of its neighbors by so
  /// many percent of the difference, 0 to 200. Default 0: none.
  public var sharpening: Int

  /// The colors of the file. Default ``Colors/sRGB``.
  public var colors: Colors
  /// The frames of an animated source that the thumbnail shows. Default ``Frames/first``.
  public var frames: Frames

  /// Creates a spec for a box of `width` by `height` points. `height` defaults to `width`.
  ///
  /// Any value is accepted here; ``Renderer/check(_:)`` throws if one is out of range.
  public init(
    width: Int, height: Int? = nil, scale: Int = 1, fit: Fit = .inside, gravity: Gravity = .center,
    enlargement: Enlargement = .never, format: Format = .auto, quality: Int = 82, background: Color = .white,
    filter: Filter = .lanczos3, light: Light = .perceptual, scans: Scans = .baseline, maxBytes: Int? = nil,
    trim: Int? = nil, sharpening: Int = 0, colors: Colors = .sRGB, frames: Frames = .first
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
    self.maxBytes = maxBytes
    self.trim = trim
    self.sharpening = sharpening
    self.colors = colors
    self.frames = frames
  }

  /// The colors that the file may have.
  var fileColors: Colors {
    switch format {
    case .gif, .rgba, .placeholder, .perceptualHash, .original: .sRGB
    case .avif: colors == .sRGB ? .sRGB : .displayP3
    default: colors
    }
  }

  /// The gravity that has an effect: the middle, unless the fit is ``Fit/cover``.
  var effectiveGravity: Gravity { fit == .cover ? gravity : .center }

  /// Compares everything that determines the pixels, so a gravity counts only if it has an effect.
  public static func == (first: Self, second: Self) -> Bool {
    (first.box, first.scale, first.fit, first.effectiveGravity, first.enlargement)
      == (second.box, second.scale, second.fit, second.effectiveGravity, second.enlargement)
      && (first.format, first.quality, first.background, first.filter, first.light, first.scans)
        == (second.format, second.quality, second.background, second.filter, second.light, second.scans)
      && (first.maxBytes, first.trim, first.sharpening, first.colors, first.frames)
        == (second.maxBytes, second.trim, second.sharpening, second.colors, second.frames)
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

  /// The short name in reports and file names: `256x256`, or `64x64@2x` if the scale is not 1. A side of the length
  /// ``freeSide`` is left out: `200x`, `x100`.
  public var label: String { scale == 1 ? sides : "\(sides)@\(scale)x" }

  private var sides: String {
    let free = Self.freeSide / max(1, scale)
    guard fit == .inside, box.width != box.height else { return "\(box)" }
    return box.height == free ? "\(box.width)x" : box.width == free ? "x\(box.height)" : "\(box)"
  }
}

// MARK: Choices

extension ThumbnailSpec {
  /// The way an image is fitted to the box.
  public enum Fit: String, CaseIterable, Hashable, Sendable {
    /// Scales the image to the largest size that fits in the box, keeping its aspect ratio. Usually smaller than the
    /// box on one side.
    case inside
    /// Fills the box, keeping the aspect ratio, and crops what extends beyond it: evenly on both sides,
    /// or as ``ThumbnailSpec/gravity`` says.
    case cover
    /// Like `inside`, but fills the rest of the box: `background` in JPEG, transparent in all other
    /// formats.
    case pad
    /// Scales the image to exactly the box, ignoring the aspect ratio.
    case stretch
    /// Scales the image to the smallest size that covers the box, keeping its aspect ratio. Usually larger than the box
    /// on one side, but at most 16,383 pixels long, which is the limit of WebP.
    case outside
  }

  /// The treatment of an image that is smaller than the box.
  public enum Enlargement: String, Hashable, Sendable {
    /// Keeps the size of the image.
    case never
    /// Enlarges the image to the box.
    case allowed
  }

  /// The format of the thumbnail.
  public enum Format: String, CaseIterable, Hashable, Sendable {
    /// The format of the source if it is JPEG, PNG or WebP; lossless WebP gives lossless WebP. Other sources give PNG
    /// if they may have a palette or alpha, otherwise JPEG.
    case auto
    /// Always JPEG; transparent parts show `background`.
    case jpeg
    /// Always PNG.
    case png
    /// Always WebP: lossless for a thumbnail with at most 256 colors, or with at most 16 if all are gray, otherwise
    /// lossy. If there are transparent pixels and many colors, the smaller one of a lossy and a lossless file. Needs
    /// the package trait `WebP`.
    case webp
    /// Always AVIF, encoded by `thumbs-decode`, which must be installed, with speed 8 of libaom. Alpha has no losses;
    /// chroma has half the resolution below a quality of 90, except in drawings.
    case avif
    /// Always GIF, with at most 256 colors, which dithering mixes; thumbnails with no more have no losses. Pixels are
    /// opaque if their alpha is at least 128, and transparent otherwise. With ``Frames/all``, animated sources give
    /// animated files. Always in sRGB.
    case gif
    /// The smaller file of two: ``webp``, and ``jpeg`` for opaque thumbnails with many colors or ``png`` for all
    /// others. Files of the same size are not WebP. Needs the package trait `WebP`.
    case smallest
    /// Pixels instead of a file: see ``OutputFormat/rgba``. ``Thumbnail/bytes`` has four times as many bytes as the
    /// thumbnail has pixels, in the caches as well.
    case rgba
    /// A ``Placeholder`` instead of a file: see ``ThumbnailSpec/placeholder``. No side of the box may be longer than
    /// ``ThumbHash/longestSide``.
    case placeholder
    /// A ``PerceptualHash`` instead of a file. Only ``ThumbnailSpec/perceptualHash`` may have it.
    case perceptualHash = "phash"
    /// The file of the source in place of a thumbnail: see ``ThumbnailSpec/original``.
    case original
  }

  /// The resampling filter, which weighs neighboring pixels when an image is scaled.
  public enum Filter: String, CaseIterable, Hashable, Sendable {
    /// Lanczos with three lobes: the sharpest.
    case lanczos3
    /// The Mitchell-Netravali cubic (B = C = 1/3): softer, with hardly any ringing.
    case mitchell
    /// The Catmull-Rom cubic (B = 0, C = 1/2): between the two.
    case cubic
    /// The plain mean of the covered pixels.
    case box
  }

  /// The color space in which pixels are averaged.
  public enum Light: String, CaseIterable, Hashable, Sendable {
    /// Averages gamma-encoded sRGB values: fast, and what most programs do.
    case perceptual
    /// Averages linear light, so that fine bright detail keeps its brightness. Several times slower, because the
    /// decoder must not shrink the image first.
    case linear
  }

  /// The colors of a thumbnail. Gray images, those from CMYK inks, and images without colors that sRGB lacks are always
  /// in sRGB; so are pixels, placeholders, and thumbnails that a ``PixelProcess`` changes.
  public enum Colors: String, CaseIterable, Hashable, Sendable {
    /// sRGB: the same colors everywhere.
    case sRGB = "srgb"
    /// Display P3, for images with colors that sRGB lacks. The file has a profile.
    case displayP3 = "p3"
    /// Those of the ICC profile of the image, which the file has as well. An image with other declared colors, and an
    /// AVIF file, is in Display P3. ``ThumbnailSpec/background`` is not converted.
    case source
  }

  /// The frames that a thumbnail shows, if its source is animated.
  public enum Frames: String, CaseIterable, Hashable, Sendable {
    /// The first frame, as a still image.
    case first
    /// All frames of GIF, WebP, PNG and AVIF files, as an animated file with the same durations and repetitions: GIF if
    /// the ``ThumbnailSpec/format`` is ``Format/gif``, and WebP if it is ``Format/auto``, ``Format/webp`` or
    /// ``Format/smallest``, which needs the package trait `WebP`. No other format is possible; it applies to sources
    /// with one frame as usual. Of more than 300 frames, and of more than 100 million pixels, every second one is left
    /// out, or more; so is what comes after 60 seconds or two billion pixels of the source, with a warning. A frame
    /// that is corrupt ends the animation, with a warning.
    ///
    /// With a ``PixelProcess`` and ``DecoderIsolation/Scope/all``, only the first frame is shown.
    case all
  }

  /// The scan order of a JPEG file.
  public enum Scans: String, CaseIterable, Hashable, Sendable {
    /// From top to bottom.
    case baseline
    /// From coarse to fine: on a slow connection, the whole image is visible early. Usually a little smaller.
    case progressive
  }
}

// MARK: Color

extension ThumbnailSpec {
  /// An opaque sRGB color.
  public struct Color: Hashable, Sendable {
    /// The three components, 0 to 255.
    public var red, green, blue: UInt8

    /// Creates a color from its components.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
      (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// White, `ffffff`.
    public static let white = Color(red: 255, green: 255, blue: 255)
  }
}

extension ThumbnailSpec.Color: CustomStringConvertible {
  /// Six lowercase hexadecimal digits, `rrggbb`.
  public var description: String {
    String((UInt32(1) << 24 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)), radix: 16).dropFirst().description
  }

  /// Creates a color from six hexadecimal digits, with or without a leading `#`; nil for any other text.
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

// MARK: Check

extension ThumbnailSpec {
  /// The maximum length of a side of a WebP file (RFC 9649, section 3.4).
  static let longestWebPSide = 16383

  /// Throws `badSpec` if the box, scale or quality is out of range, if this build lacks the format, or if the output
  /// could have more than `maxOutputPixels`.
  ///
  /// The pixel limit applies only to output that can be larger than its source: padded or enlarged. All other output
  /// has at most as many pixels as its source, which ``Renderer/maxPixels`` limits.
  func check(maxOutputPixels: Int) throws(ImageError) {
    guard (1...8).contains(scale) else { throw ImageError(.badSpec, "The scale is \(scale); it must be 1 to 8.") }
    let sides = 1...Self.largestSide / scale
    guard sides.contains(box.width), sides.contains(box.height) else {
      throw ImageError(
        .badSpec, "The size is \(box) at scale \(scale); each side must be 1 to \(Self.largestSide) pixels.")
    }
    guard (1...100).contains(quality) else {
      throw ImageError(.badSpec, "The quality is \(quality); it must be 1 to 100.")
    }
    guard maxBytes.map({ $0 > 0 }) ?? true else {
      throw ImageError(.badSpec, "The limit of a file must be at least 1 byte.")
    }
    guard trim.map((0...255).contains) ?? true, (0...200).contains(sharpening) else {
      throw ImageError(.badSpec, "The tolerance of a border must be 0 to 255, and the sharpening 0 to 200.")
    }
    guard colors == .sRGB || light == .perceptual else {
      throw ImageError(.badSpec, "Linear light needs the colors of sRGB.")
    }
    guard frames == .first || colors == .sRGB else {
      throw ImageError(.badSpec, "Animated thumbnails need the colors of sRGB.")
    }
    guard frames == .first || [.auto, .webp, .gif, .smallest].contains(format) else {
      throw ImageError(
        .badSpec, "Animated thumbnails are WebP or GIF files; the format \(format.rawValue) has one frame.")
    }
    if frames == .all, format != .gif, let trait = Format.webp.missingTrait {
      throw ImageError(
        .badSpec, "Animated thumbnails need the format gif, or a build with the package trait \(trait).")
    }
    if let trait = format.missingTrait {
      throw ImageError(.badSpec, "The output format \(format.rawValue) needs a build with the package trait \(trait).")
    }
    guard format != .placeholder || max(pixelBox.width, pixelBox.height) <= ThumbHash.longestSide else {
      let limit = ThumbHash.longestSide
      throw ImageError(.badSpec, "The size is \(pixelBox); in placeholders, each side must be at most \(limit) pixels.")
    }
    guard format != .perceptualHash || self == .perceptualHash else {
      throw ImageError(.badSpec, "A perceptual hash has no settings.")
    }
    let needsWebP = format == .webp || format == .smallest
    guard !needsWebP || max(pixelBox.width, pixelBox.height) <= Self.longestWebPSide else {
      throw ImageError(.badSpec, Self.tooLongForWebP(pixelBox))
    }
    let isBounded = fit != .pad && enlargement == .never
    guard format != .avif || isBounded || pixelBox.area <= AVIFEncoder.maxPixels else {
      throw ImageError(.badSpec, Self.tooLargeForAVIF(pixelBox))
    }
    guard isBounded || pixelBox.area <= maxOutputPixels else {
      throw ImageError(
        .badSpec, "A thumbnail of \(pixelBox) exceeds the limit of \(maxOutputPixels) pixels.")
    }
  }

  /// Returns the message for a size that is too large for AVIF.
  static func tooLargeForAVIF(_ size: PixelSize) -> String {
    "The size is \(size); in AVIF, a thumbnail has at most \(AVIFEncoder.maxPixels) pixels."
  }

  /// Returns the message for a size that WebP does not allow.
  static func tooLongForWebP(_ size: PixelSize) -> String {
    "The size is \(size); in WebP, each side must be at most \(longestWebPSide) pixels."
  }
}

// MARK: Cache text

extension ThumbnailSpec {
  /// Everything that determines the pixels of a thumbnail, including the renderer version, as one line. Part of its
  /// key.
  ///
  /// `1 256x256@1 inside never auto 82 ffffff lanczos3 perceptual baseline`, and then what differs from the default:
  /// the gravity, if it has an effect, `trim10`, `animated`, `p3`, `sharpen33` and `max20000` for a limit of bytes.
  var cacheText: String {
    let numbers = ["\(Renderer.version)", "\(box)@\(scale)"]
    let look = [fit.rawValue, enlargement.rawValue, format.rawValue, "\(quality)", "\(background)"]
    let scaling = [filter.rawValue, light.rawValue, scans.rawValue]
    return (numbers + look + scaling + endTexts).joined(separator: " ")
  }

  /// Parses a ``cacheText``; nil for another renderer version or any other text.
  init?(cacheText text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count >= 10, Int(words[0]) == Renderer.version,
      let fit = Fit(rawValue: words[2]), let enlargement = Enlargement(rawValue: words[3]),
      let format = Format(rawValue: words[4]), let quality = Int(words[5]),
      let background = Color(words[6]), let filter = Filter(rawValue: words[7]),
      let light = Light(rawValue: words[8]), let scans = Scans(rawValue: words[9]),
      let ending = Ending(words.dropFirst(10), fit)
    else { return nil }
    let numbers = words[1].split(whereSeparator: { $0 == "x" || $0 == "@" }).compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    self.init(
      width: numbers[0], height: numbers[1], scale: numbers[2], fit: fit, gravity: ending.gravity,
      enlargement: enlargement, format: format, quality: quality, background: background, filter: filter, light: light,
      scans: scans, maxBytes: ending.maxBytes, trim: ending.trim, sharpening: ending.sharpening,
      colors: ending.colors, frames: ending.frames)
  }
}

// MARK: Fingerprint

extension ThumbnailSpec {
  /// A canonical string of everything that determines the thumbnail's pixels, including the renderer's version.
  ///
  /// Two specs are equal if and only if their fingerprints are. Suitable as a cache key: stable across processes,
  /// ASCII, without spaces, shorter than 130 characters.
  /// Example: `v1-256x256@1-inside-never-auto-q82-ffffff-lanczos3-perceptual-baseline`. What differs from the default
  /// follows: the gravity, if it has an effect, `trim10`, `animated`, `p3`, `sharpen33` and `max20000` for a limit of
  /// bytes.
  public var fingerprint: String {
    // Appended piece by piece, because each row of a run needs it.
    var text = "v\(Renderer.version)-\(box)@\(scale)"
    text.reserveCapacity(100)
    func add(_ part: String) {
      text += "-"
      text += part
    }
    for part in [fit.rawValue, enlargement.rawValue, format.rawValue] { add(part) }
    add("q\(quality)")
    add(background.description)
    for part in [filter.rawValue, light.rawValue, scans.rawValue] { add(part) }
    for part in endTexts { add(part) }
    return text
  }

  /// Creates the spec whose ``fingerprint`` is `text`, written by any version of the renderer; nil if the text is not a
  /// fingerprint, or if its box, scale or quality is out of range.
  public init?(fingerprint text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 10, parts[0].hasPrefix("v"), Int(parts[0].dropFirst()) != nil,
      parts[5].hasPrefix("q"),
      let fit = Fit(rawValue: parts[2]), let enlargement = Enlargement(rawValue: parts[3]),
      let format = Format(rawValue: parts[4]), let quality = Int(parts[5].dropFirst()),
      let background = Color(parts[6]), let filter = Filter(rawValue: parts[7]),
      let light = Light(rawValue: parts[8]), let scans = Scans(rawValue: parts[9]),
      let ending = Ending(parts.dropFirst(10), fit)
    else { return nil }
    let numbers = parts[1].split(whereSeparator: { $0 == "x" || $0 == "@" }).compactMap { Int($0) }
    guard numbers.count == 3, (1...100).contains(quality), (1...8).contains(numbers[2]),
      numbers.dropLast().allSatisfy({ (1...Self.largestSide / numbers[2]).contains($0) })
    else { return nil }
    self.init(
      width: numbers[0], height: numbers[1], scale: numbers[2], fit: fit, gravity: ending.gravity,
      enlargement: enlargement, format: format, quality: quality, background: background, filter: filter, light: light,
      scans: scans, maxBytes: ending.maxBytes, trim: ending.trim, sharpening: ending.sharpening,
      colors: ending.colors, frames: ending.frames)
  }

  /// The texts of the properties that differ from their defaults, for the end of a canonical string. Without them, such
  /// strings are as they were before there were these properties.
  private var endTexts: [String] {
    var texts = gravityTexts
    if let trim { texts.append("\(Ending.trim)\(trim)") }
    if frames == .all { texts.append(Ending.animated) }
    if colors != .sRGB { texts.append(colors.rawValue) }
    if sharpening != 0 { texts.append("\(Ending.sharpen)\(sharpening)") }
    if let maxBytes { texts.append("\(Ending.max)\(maxBytes)") }
    return texts
  }

  /// The properties in ``endTexts``.
  private struct Ending {
    static let (trim, animated, sharpen, max) = ("trim", "animated", "sharpen", "max")

    var gravity = Gravity.center
    var (trim, maxBytes): (Int?, Int?)
    var sharpening = 0
    var colors = Colors.sRGB
    var frames = Frames.first

    /// Parses the texts of a spec with this fit; nil for anything that they never are.
    init?(_ texts: ArraySlice<String>, _ fit: Fit) {
      var texts = texts
      if let number = Self.take(Self.max, 1..., from: &texts) { maxBytes = number }
      if let number = Self.take(Self.sharpen, 1...200, from: &texts) { sharpening = number }
      if let last = texts.last, let colors = Colors(rawValue: last), colors != .sRGB {
        self.colors = colors
        texts.removeLast()
      }
      if texts.last == Self.animated {
        frames = .all
        texts.removeLast()
      }
      trim = Self.take(Self.trim, 0...255, from: &texts)
      guard let gravity = ThumbnailSpec.gravity(texts, fit) else { return nil }
      self.gravity = gravity
    }

    /// Removes the last text if it is `name` and a number in `range`, which is returned.
    private static func take(
      _ name: String, _ range: some RangeExpression<Int>, from texts: inout ArraySlice<String>
    ) -> Int? {
      guard let last = texts.last, last.hasPrefix(name), let number = Int(last.dropFirst(name.count)),
        range.contains(number), "\(name)\(number)" == last
      else { return nil }
      texts.removeLast()
      return number
    }
  }

  /// The text of the gravity, for the end of a canonical string; none for the center, or if it has no effect, so that
  /// such strings are as they were before there was a gravity.
  var gravityTexts: [String] { effectiveGravity == .center ? [] : [effectiveGravity.description] }

  /// Parses ``gravityTexts`` of a spec with this fit; nil for anything that it never is.
  static func gravity(_ texts: ArraySlice<String>, _ fit: Fit) -> Gravity? {
    guard let text = texts.first else { return .center }
    guard texts.count == 1, fit == .cover, let gravity = Gravity(text), gravity != .center else { return nil }
    return gravity
  }
}
