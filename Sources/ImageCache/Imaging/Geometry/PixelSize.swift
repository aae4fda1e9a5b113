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

  /// The number of pixels. One that is too large for a number is the largest there is.
  public var area: Int { width.saturatingProduct(height) }
}

extension Int {
  /// The product; where that is too large for a number, the largest or smallest there is.
  func saturatingProduct(_ other: Int) -> Int {
    let (product, isTooLarge) = multipliedReportingOverflow(by: other)
    guard isTooLarge else { return product }
    return (self < 0) == (other < 0) ? .max : .min
  }
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
