extension ThumbnailSpec {
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

  /// How neighbouring pixels are weighed when a picture is scaled.
  public enum Filter: String, CaseIterable, Hashable, Sendable {
    /// Lanczos, three lobes: the sharpest.
    case lanczos3
    /// Mitchell and Netravali's cubic (B = C = 1/3): softer, with hardly any ringing.
    case mitchell
    /// Catmull-Rom's cubic: between the two.
    case cubic
    /// The plain mean of the pixels covered.
    case box
  }

  /// What is mixed when pixels are.
  public enum Light: String, CaseIterable, Hashable, Sendable {
    /// The numbers of sRGB, which are even steps to the eye: fast, and what most programs do.
    case perceptual
    /// The light those numbers stand for: fine bright detail keeps its brightness. Several times slower, because
    /// nothing may be shrunk before.
    case linear
  }

  /// The order in which a JPEG file tells its picture.
  public enum Scans: String, CaseIterable, Hashable, Sendable {
    /// From top to bottom.
    case baseline
    /// From coarse to fine: a viewer on a slow line sees all of it early. Usually a little smaller.
    case progressive
  }
}
