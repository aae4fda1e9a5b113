import ArgumentParser
import ImageCache

/// The size of a thumbnail as written on the command line: `256`, `200x100`, `64@2x`, `200x100@2x`.
struct SizeOption: Hashable, Sendable {
  /// The box in points.
  var box: PixelSize
  /// Pixels per point, 1 to 8.
  var scale: Int
}

extension SizeOption {
  /// Parses a size. Each side must be 1 to 16384 pixels after scaling.
  init(_ text: String) throws {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let sides = parts[0].split(separator: "x", maxSplits: 1, omittingEmptySubsequences: false).map(Self.number)
    let scale = parts.count == 1 ? 1 : Self.scale(parts[1])
    guard let scale, let width = sides[0], let height = sides.count == 1 ? width : sides[1] else {
      throw ValidationError("give a size such as 256, 200x100, 64@2x or 200x100@2x")
    }
    let largest = ThumbnailSpec.largestSide
    guard (1...8).contains(scale) else { throw ValidationError("the scale must be 1 to 8, as in 64@2x") }
    guard (1...largest / scale).contains(width), (1...largest / scale).contains(height) else {
      throw ValidationError("each side must be 1 to \(largest) pixels after scaling")
    }
    self.box = PixelSize(width: width, height: height)
    self.scale = scale
  }

  /// Parses sizes that are separated by commas: `64,128`, `64,64@2x`.
  static func list(_ text: String) throws -> [SizeOption] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map {
      try SizeOption(String($0).trimmingWhitespace())
    }
  }

  private static func scale(_ text: Substring) -> Int? { text.hasSuffix("x") ? number(text.dropLast()) : nil }

  /// Parses ASCII digits only: unlike `Int.init`, rejects a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
  }
}

extension SizeOption: CustomStringConvertible {
  /// The shortest form: `256`, `200x100@2x`.
  var description: String {
    let sides = box.width == box.height ? "\(box.width)" : "\(box)"
    return scale == 1 ? sides : "\(sides)@\(scale)x"
  }
}
