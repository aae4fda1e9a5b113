/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable {
  /// Columns, at least 0.
  public var width: Int
  /// Rows, at least 0.
  public var height: Int

  /// Creates a size of `width` columns and `height` rows.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pixels, clamped to `Int.max`.
  public var area: Int { width.saturatingProduct(height) }
}

extension Int {
  /// Returns the product, clamped to the range of `Int`.
  func saturatingProduct(_ other: Int) -> Int {
    let (product, isTooLarge) = multipliedReportingOverflow(by: other)
    guard isTooLarge else { return product }
    return (self < 0) == (other < 0) ? .max : .min
  }
}

extension PixelSize {
  /// Returns the size with both sides divided by `divisor`, rounded up for `.up` and down otherwise, and at least 1.
  func divided(by divisor: Int, _ rounding: FloatingPointRoundingRule) -> PixelSize {
    let extra = rounding == .up ? divisor - 1 : 0
    return PixelSize(width: max(1, (width + extra) / divisor), height: max(1, (height + extra) / divisor))
  }
}

extension PixelSize: CustomStringConvertible {
  /// `WIDTHxHEIGHT`, as on the command line and in reports.
  public var description: String { "\(width)x\(height)" }
}
