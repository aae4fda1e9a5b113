/// The part of an image that ``ThumbnailSpec/Fit/cover`` keeps: the crop around a point, or the most interesting part.
///
/// A point lies in the upright image, after the EXIF orientation, and is measured from the upper left corner. The crop
/// is the one whose middle is as close to that point as the edges of the image allow. So `north` keeps the upper edge,
/// and a point in the middle of a face keeps the face in the middle, unless it is near an edge.
///
/// ```swift
/// let face = Gravity("62.5%,30%") ?? .center
/// let portrait = ThumbnailSpec(width: 256, fit: .cover, gravity: face)
/// let guess = ThumbnailSpec(width: 256, fit: .cover, gravity: .smart)
/// ```
public struct Gravity: Hashable, Sendable {
  enum Aim: Hashable, Sendable {
    /// A point in hundredths of a percent of the width and the height.
    case point(x: Int, y: Int)
    case smart
  }

  let aim: Aim

  private init(_ aim: Aim) { self.aim = aim }

  /// Creates a point from percentages of the width and the height, rounded to hundredths; nil if one is not 0 to 100.
  public init?(x: Double, y: Double) {
    guard (0...100).contains(x), (0...100).contains(y) else { return nil }
    aim = .point(x: Int((x * 100).rounded()), y: Int((y * 100).rounded()))
  }

  /// The middle of the image: what extends beyond the box is cropped evenly on both sides.
  public static let center = Gravity(.point(x: 5000, y: 5000))

  /// The crop with the most detail, skin tones and saturated colors. Where nothing stands out, the middle.
  ///
  /// The image is scaled as a whole first. If it would then have more than ``Renderer/maxOutputPixels``, the middle is
  /// kept without a search, as it is if a side would be longer than 131,072 pixels.
  public static let smart = Gravity(.smart)

  /// The middle and the eight points of the compass by their names; `north` is the middle of the upper edge.
  public static let named: [(name: String, gravity: Gravity)] = [
    ("center", .center), ("north", Gravity(.point(x: 5000, y: 0))), ("northeast", Gravity(.point(x: 10000, y: 0))),
    ("east", Gravity(.point(x: 10000, y: 5000))), ("southeast", Gravity(.point(x: 10000, y: 10000))),
    ("south", Gravity(.point(x: 5000, y: 10000))), ("southwest", Gravity(.point(x: 0, y: 10000))),
    ("west", Gravity(.point(x: 0, y: 5000))), ("northwest", Gravity(.point(x: 0, y: 0))),
  ]
}

extension Gravity: LosslessStringConvertible {
  /// A name in ``named``, `smart`, or a point such as `62.5%,30%`. A point that has a name is shown by it.
  public var description: String {
    guard case .point(let x, let y) = aim else { return "smart" }
    if let name = Self.named.first(where: { $0.gravity == self })?.name { return name }
    return "\(Self.text(ofHundredths: x))%,\(Self.text(ofHundredths: y))%"
  }

  /// Parses a name in ``named``, `smart`, or two percentages from 0 to 100 that are separated by a comma or spaces; nil
  /// for any other text.
  public init?(_ text: String) {
    if let known = (Self.named + [("smart", .smart)]).first(where: { $0.name == text }) {
      self = known.gravity
      return
    }
    let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    let words = parts.flatMap { $0.split(separator: " ") }
    guard words.count == 2, let x = Self.percentage(words[0]), let y = Self.percentage(words[1]) else { return nil }
    self.init(x: x, y: y)
  }

  private static func text(ofHundredths count: Int) -> String {
    count % 100 == 0 ? "\(count / 100)" : "\(Double(count) / 100)"
  }

  /// Parses digits with at most one point and a percent sign: unlike `Double.init`, no sign and no exponent.
  private static func percentage(_ word: Substring) -> Double? {
    let digits = word.dropLast()
    guard word.last == "%", digits.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }) else { return nil }
    return Double(digits)
  }
}
