/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable {
  /// Columns, at least 0.
  public var width: Int
  /// Rows, at least 0.
  public var height: Int

  /// A size of `width` columns and `height` rows.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pixels.
  public var area: Int { width * height }
}

extension PixelSize {
  /// Both sides divided by `divisor` and rounded, at least 1.
  func divided(by divisor: Int, _ rounding: FloatingPointRoundingRule) -> PixelSize {
    let extra = rounding == .up ? divisor - 1 : 0
    return PixelSize(width: max(1, (width + extra) / divisor), height: max(1, (height + extra) / divisor))
  }
}

extension PixelSize: CustomStringConvertible {
  /// `WIDTHxHEIGHT`, the form of the command line and the report.
  public var description: String { "\(width)x\(height)" }
}
