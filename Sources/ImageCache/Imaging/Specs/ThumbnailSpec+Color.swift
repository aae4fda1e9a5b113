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
    [red, green, blue].map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
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
