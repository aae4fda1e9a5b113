import Testing

@testable import ImageCache

@Suite struct `The dominant color` {
  private static let (red, sky, ink) = (
    [200, 10, 20, 255] as [UInt8], [90, 160, 240, 255] as [UInt8], [0, 0, 0, 255] as [UInt8]
  )

  /// Returns the color of an image with so many pixels of each color.
  private func color(_ pixels: [([UInt8], Int)]) -> String? {
    let samples = pixels.flatMap { Array(repeating: $0, count: $1) }.flatMap(\.self)
    return ThumbnailSpec.Color(dominantIn: samples.span)?.description
  }

  @Test func `The color of most pixels dominates, wherever they are`() {
    #expect(color([(Self.red, 1)]) == "c80a14")
    #expect(color([(Self.red, 5), (Self.sky, 4), (Self.ink, 4)]) == "c80a14")
    #expect(color([(Self.ink, 4), (Self.sky, 5), (Self.red, 4)]) == "5aa0f0")
  }

  @Test func `It is the mean of nearly the same colors, without any other`() {
    let (light, dark) = ([100, 100, 100, 255] as [UInt8], [106, 103, 97, 255] as [UInt8])
    #expect(color([(light, 10), (Self.red, 12), (dark, 10)]) == "676663")
  }

  @Test func `Transparent pixels count less, and their color does not count at all`() {
    let faint: [UInt8] = [200, 10, 20, 60], hidden: [UInt8] = [255, 255, 255, 0]
    #expect(color([(faint, 8), (Self.sky, 2), (hidden, 90)]) == "5aa0f0")
    #expect(color([(faint, 9), (Self.sky, 2), (hidden, 90)]) == "c80a14")
  }

  @Test func `A transparent image has none`() {
    #expect(color([([255, 255, 255, 0], 9)]) == nil)
  }

  @Test func `Of two colors with as many pixels, it is always the same one`() {
    #expect(color([(Self.sky, 3), (Self.red, 3)]) == "5aa0f0" && color([(Self.red, 3), (Self.sky, 3)]) == "5aa0f0")
  }
}
