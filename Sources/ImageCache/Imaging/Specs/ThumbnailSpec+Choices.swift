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
    /// The smaller file of two: ``webp``, and ``jpeg`` for opaque thumbnails with many colors or ``png`` for all
    /// others. Files of the same size are not WebP. Needs the package trait `WebP`.
    case smallest
    /// Pixels instead of a file: see ``OutputFormat/rgba``. ``Thumbnail/bytes`` has four times as many bytes as the
    /// thumbnail has pixels, in the caches as well.
    case rgba
    /// A ``Placeholder`` instead of a file: see ``ThumbnailSpec/placeholder``. No side of the box may be longer than
    /// ``ThumbHash/longestSide``.
    case placeholder
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

  /// The scan order of a JPEG file.
  public enum Scans: String, CaseIterable, Hashable, Sendable {
    /// From top to bottom.
    case baseline
    /// From coarse to fine: on a slow connection, the whole image is visible early. Usually a little smaller.
    case progressive
  }
}
